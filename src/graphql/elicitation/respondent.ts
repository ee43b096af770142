import { builder } from '../builder.ts'

export const Respondent = builder.objectRef<{ name: string; surface: string }>('Respondent').implement({
  description: 'Who ended a request, and by which door.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the key or of the signed-in user.' }),
    surface: t.exposeString('surface', { description: '`dashboard`, `graphql`, `rest`, `mcp` or `cli`.' }),
  }),
})
