import { startDemo } from './demo.ts'

const given = process.argv.indexOf('--answer')
const answer = given < 0 ? null : process.argv[given + 1]
if (answer !== null && answer !== 'accept' && answer !== 'decline' && answer !== 'cancel') {
  process.stderr.write('Usage: npm run demo [-- --answer accept|decline|cancel]\n')
  process.exit(2)
}

await startDemo({
  environment: process.env,
  answer,
  say: (text) => void process.stdout.write(`${text}\n`),
}).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
})
