import { dataFolder } from './connection.ts'

/**
 * Runs the server in this process, as `npm start` does. Wherever it is started, its data is where every other command looks
 * for it.
 */
export async function serve(environment: NodeJS.ProcessEnv): Promise<never> {
  environment.HOLDPOINT_DATA_DIR = dataFolder(environment)
  await import('../main.ts')
  return new Promise<never>(() => {})
}
