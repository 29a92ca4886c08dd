import { defineConfig } from 'vitest/config'

// Every screen of the console, and every sort of page under /docs, in a browser: too much for every run, so commands of their own, `npm run test:console` and, for
// the pictures that documents show, `npm run console:screenshots`.
export default defineConfig(({ mode }) => ({
  test: {
    include:
      mode === 'screenshots'
        ? ['packages/console/test/**/*.screenshots.ts', 'packages/service/test/docs/*.screenshots.ts']
        : ['packages/console/test/**/*.{test,screens}.ts', 'packages/service/test/docs/*.screens.ts'],
    globalSetup: ['packages/service/test/harness/global-setup.ts'],
    // No test is about these: far longer than the longest takes on a machine that has much else to do.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 100_000 } },
    maxWorkers: 2,
    isolate: false,
  },
}))
