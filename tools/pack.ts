/** `npm run pack [-- DIRECTORY]`: builds the packages, and packs them into `release/` or another directory. */
import { join, relative, resolve } from 'node:path'
import { version } from '../packages/service/src/kernel/version.ts'
import { buildPackages, root } from './packages/build.ts'
import { packPackages } from './packages/pack.ts'

const into = resolve(process.argv[2] ?? join(root, 'release'))
for (const { path, files, size } of packPackages(buildPackages({ version, repository: null }), into)) {
  console.log(`${relative('.', path)}: ${files.length} files, ${size} bytes`)
}
