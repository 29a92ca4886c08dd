import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** What starts processes takes longest, what needs nothing is over at once: so no long file is left alone at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.sort((a, b) => rank(a) - rank(b))
  }
}

function rank({ moduleId }: TestSpecification): number {
  return moduleId.endsWith('.e2e.test.ts') ? 0 : moduleId.endsWith('.pg.test.ts') ? 1 : 2
}

/**
 * What is run in each mode: `npm test`, `npm run check -- console`, `npm run check -- plans`, and `npm run screenshots`, which writes the
 * pictures that documents show.
 */
const files: Readonly<Record<string, readonly string[]>> = {
  // A file's suffix tells what it needs: .test.ts nothing, .pg.test.ts a database, .e2e.test.ts whole processes.
  test: [
    'packages/*/{src,test}/**/*.test.ts',
    'packages/testbed/*.test.ts',
    'bench/**/*.test.ts',
    'checks/**/*.test.ts',
    'tools/**/*.test.ts',
  ],
  console: ['packages/console/test/**/*.{test,screens}.ts', 'packages/reference/test/**/*.screens.ts'],
  plans: ['packages/*/test/**/*.plans.ts'],
  screenshots: ['packages/console/test/**/*.screenshots.ts'],
}

export default defineConfig(({ mode }) => ({
  test: {
    include: [...(files[mode] ?? [])],
    provide: { isSuite: mode === 'test' },
    globalSetup: ['packages/testbed/global-setup.ts'],
    // Most tests wait for processes and databases of their own: four files at once also on two cores. A browser does not wait.
    maxWorkers: mode === 'test' ? 4 : 2,
    // Files share what they import: loading the service for each took a third of the time of those that use it in process.
    isolate: false,
    // And hold what they loaded: with Node's own room for new objects, collecting garbage took a fourteenth of their time. What runs a few
    // times is not worth the compiler for hot code: without it tests take a tenth less.
    execArgv: ['--max-semi-space-size=64', '--no-opt'],
    sequence: { sequencer: LongestFirst },
    // No test is about these: far longer than the longest takes on a machine that has much else to do, or sleeps for minutes.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 100_000 } },
  },
}))
