import type { CodegenConfig } from '@graphql-codegen/cli'

/** Typed documents of the dashboard's operations, out of the committed schema: needs no running server. */
const config: CodegenConfig = {
  schema: 'schema.graphql',
  importExtension: '.ts',
  documents: 'src/dashboard/**/*.graphql',
  generates: {
    'src/dashboard/generated/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: {
        useTypeImports: true,
        enumsAsTypes: true,
        avoidOptionals: { field: true },
        defaultScalarType: 'unknown',
        scalars: {
          DateTime: 'string',
          EventCursor: 'string',
          ID: 'string',
          JSON: "import('../../base/json.ts').Json",
        },
      },
    },
  },
}

export default config
