/** A form with every kind of field, some required. */
export const everyField = {
  type: 'object',
  properties: {
    ticket: { type: 'string', title: 'Ticket', description: 'The change ticket.' },
    tag: { type: 'string', title: 'Tag', pattern: '^v[0-9]+$' },
    notes: { type: 'string', title: 'Notes', maxLength: 400 },
    email: { type: 'string', title: 'Notify', format: 'email' },
    runbook: { type: 'string', title: 'Runbook', format: 'uri' },
    day: { type: 'string', title: 'Ship on', format: 'date' },
    moment: { type: 'string', title: 'Start at', format: 'date-time', default: '2026-12-24T10:00:00Z' },
    budget: { type: 'number', title: 'Budget', minimum: 0, maximum: 99.5 },
    replicas: { type: 'integer', title: 'Replicas', minimum: 1, maximum: 5 },
    send: { type: 'boolean', title: 'Send it?' },
    dry: { type: 'boolean', title: 'Dry run', default: true },
    plan: {
      type: 'string',
      title: 'Plan',
      oneOf: [
        { const: 'p1', title: 'Small' },
        { const: 'p2', title: 'Large' },
      ],
    },
    month: {
      type: 'string',
      title: 'Month',
      enum: ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September'],
    },
    country: {
      type: 'string',
      title: 'Country',
      enum: Array.from({ length: 60 }, (_, index) => `Country ${index + 1}`),
    },
    checks: {
      type: 'array',
      title: 'Checks',
      minItems: 1,
      maxItems: 2,
      items: { type: 'string', enum: ['unit', 'e2e', 'lint'] },
    },
    labels: { type: 'array', title: 'Labels', items: { type: 'string' } },
    options: { type: 'object', title: 'Options', properties: { depth: { type: 'integer' } } },
    apiKey: { type: 'string', title: 'API key' },
  },
  required: ['ticket', 'replicas', 'send', 'checks'],
}
