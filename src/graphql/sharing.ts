/**
 * Marks a field of the query type: what it reads is told by the timeline or by who polls, but for `ofTheMoment`, and hangs on the
 * arguments, on the role and on the session that a key is bound to.
 */
export const shared = { isShared: true }

/** Marks a field below one that is `shared` which changes without an event. A query that asks for it is not shared. */
export const ofTheMoment = { isOfTheMoment: true }
