import { defineConfig } from 'vitest/config'

// Plans at a hundred thousand rows: too much for every run, so a command of its own, `npm run test:plans`.
export default defineConfig({
  test: {
    include: ['packages/*/test/**/*.plans.ts'],
    globalSetup: ['packages/service/test/harness/global-setup.ts'],
    testTimeout: 60_000,
  },
})
