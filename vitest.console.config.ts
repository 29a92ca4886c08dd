import { defineConfig } from 'vitest/config'

// Every screen of the console in a browser: too much for every run, so commands of their own, `npm run test:console` and, for
// the pictures in docs/console, `npm run console:screenshots`.
export default defineConfig(({ mode }) => ({
  test: {
    include:
      mode === 'screenshots'
        ? ['packages/console/test/**/*.screenshots.ts']
        : ['packages/console/test/**/*.{test,screens}.ts'],
    globalSetup: ['packages/service/test/harness/global-setup.ts'],
    // A browser on a busy machine takes its time.
    expect: { poll: { timeout: 15_000 } },
    testTimeout: 120_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    isolate: false,
  },
}))
