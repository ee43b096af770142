/** What each pending request's region is called; counted where there are several, so that no two have one name. */
export function regionNames(pendingKeys: readonly string[]): Map<string, string> {
  const { length } = pendingKeys
  return new Map(
    pendingKeys.map((key, index) => [
      key,
      length === 1 ? 'Approval request' : `Approval request ${index + 1} of ${length}`,
    ]),
  )
}
