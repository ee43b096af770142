/** migrator.ts <connection string> <folder>: applies migrations when told to by the test that forked it. */
import { applyMigrations } from '../../../src/database/migrate.ts'

const [connectionString, folder] = process.argv.slice(2)
process.send!({ ready: true })
process.once('message', async () => {
  process.send!(await applyMigrations(connectionString!, folder), () => process.exit())
})
