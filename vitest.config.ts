import { defineConfig } from 'vitest/config'

// A file's suffix tells what it needs: .test.ts nothing, .pg.test.ts a database, .e2e.test.ts whole processes.
export default defineConfig({
  test: {
    include: ['packages/*/{src,test}/**/*.test.ts', 'bench/**/*.test.ts', 'torture/**/*.test.ts'],
    globalSetup: ['packages/service/test/harness/global-setup.ts'],
    // Most tests wait for processes and databases of their own: two files at once also on two cores.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
