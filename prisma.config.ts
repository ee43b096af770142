import { defineConfig } from 'prisma/config'

// `prisma generate` only needs the WebAssembly parts; naming any existing executable keeps it from downloading an engine.
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
})
