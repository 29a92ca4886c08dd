/** `npm run check -- packages`: tests the packages from their tarballs. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { version } from '../packages/service/src/kernel/version.ts'
import { buildPackages } from '../tools/packages/build.ts'
import { packPackages } from '../tools/packages/pack.ts'
import { makeTrials } from './packages/matrix.ts'
import { report } from './report.ts'

const scratch = mkdtempSync(join(tmpdir(), 'deskwire-packages-'))
try {
  const built = buildPackages({ version, repository: null }, (name) => join(scratch, 'built', name))
  const tarballs = packPackages(built, join(scratch, 'packed'))
  for (const { name, run } of await makeTrials(tarballs, scratch)) {
    await run().then(
      (came) => report(`${name}: ${came}`, true),
      (error: Error) => report(`${name}: ${error.message}`, false),
    )
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
