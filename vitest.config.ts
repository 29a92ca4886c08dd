import { defineConfig } from 'vitest/config'

// A file's suffix tells what it needs: .test.ts nothing, .pg.test.ts a database, .e2e.test.ts whole processes.
export default defineConfig({
  test: {
    include: ['packages/*/{src,test}/**/*.test.ts', 'bench/**/*.test.ts'],
    globalSetup: ['packages/service/test/harness/global-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
