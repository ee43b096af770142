import { defineConfig } from 'vitest/config'

export default defineConfig({
  // As Node itself resolves: with the condition "development" there would be two copies of graphql, ours and the libraries'.
  ssr: { resolve: { conditions: ['node', 'module-sync'] } },
  test: {
    include: ['test/**/*.test.{ts,tsx}'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    globalSetup: 'test/support/global-setup.ts',
    pool: 'forks',
    maxWorkers: 2,
    // Where others use the machine too, one more try; the report says which test needed it.
    retry: process.env.CI ? 1 : 0,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // A busy machine is slow, not wrong; what never comes still fails.
    expect: { poll: { timeout: 10_000 } },
    // What a test left open does not hold up the end of the run for longer than this.
    teardownTimeout: 10_000,
  },
})
