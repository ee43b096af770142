/** holder.ts <embedded.ts> <data folder> [<uid> <gid>]: starts and holds a PostgreSQL, as told by the test that forked it. */
const [program, dataDir, uid, gid] = process.argv.slice(2)
const { startEmbeddedPostgres } = await import(program!)
if (uid && gid) {
  // Only now: Node and this file may lie where the user cannot enter.
  process.setgroups!([])
  process.setgid!(Number(gid))
  process.setuid!(Number(uid))
}

const quiet = { info() {}, warn() {}, error() {} }
// A terminal sends Ctrl-C to everything in the process group; the test does so, and sees who is still there.
process.on('SIGINT', () => process.send!({ interrupted: true }))
process.on('disconnect', () => process.exit())
try {
  const server = await startEmbeddedPostgres({ dataDir: dataDir!, log: quiet })
  process.on('message', async (request) => {
    if (request === 'stop') await server.stop()
    process.exit()
  })
  const { connectionString, port, pid } = server
  process.send!({ connectionString, port, pid })
} catch (error) {
  process.send!({ failure: (error as Error).message }, () => process.exit(1))
}
