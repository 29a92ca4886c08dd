/**
 * `npm run test:packages`: the packages from their tarballs, as somebody installs them. It needs a registry and some minutes.
 * With `-- --write-results` it writes down what came of it.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { version } from '../packages/service/src/kernel/version.ts'
import { buildPackages, root } from '../tools/packages/build.ts'
import { packPackages } from '../tools/packages/pack.ts'
import { makeTrials } from './packages/matrix.ts'

const scratch = mkdtempSync(join(tmpdir(), 'deskwire-packages-'))
const rows: string[] = []
try {
  const built = buildPackages({ version, repository: null }, (name) => join(scratch, 'built', name))
  const tarballs = packPackages(built, join(scratch, 'packed'))
  for (const { name, run } of await makeTrials(tarballs, scratch)) {
    const came = await run().catch((error: Error) => {
      process.exitCode = 1
      return `failed: ${error.message}`
    })
    console.log(`${name}: ${came}`)
    rows.push(`| ${name} | ${came} |`)
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
if (process.argv.includes('--write-results') && !process.exitCode) {
  const machine = `${cpus()[0]?.model}, ${cpus().length} cores, ${process.platform}-${process.arch}`
  const text = `# Result of the last trial of the packages

Written by \`npm run test:packages -- --write-results\`, on ${new Date().toISOString().slice(0, 10)}: release ${version}, ${machine}. Each tarball was installed by npm
in a fresh project. The program that is compiled and run is \`tools/packages/consumer/consumer.ts\`.

| what | came of it |
| --- | --- |
${rows.join('\n')}
`
  writeFileSync(join(root, 'checks/packages/RESULTS.md'), text)
}
