/**
 * `npm run release [-- --repository URL] [--into DIRECTORY]`: what a release consists of, in `release/`: the tarballs, their
 * checksums, and a bill of materials. It publishes nothing. The same commit gives the same tarballs.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { version } from '../packages/service/src/kernel/version.ts'
import { billOf } from './packages/bill.ts'
import { buildPackages, packages, root } from './packages/build.ts'
import { faultsOf } from './packages/faults.ts'
import { packPackages } from './packages/pack.ts'

const { values } = parseArgs({
  options: { repository: { type: 'string' }, into: { type: 'string', default: join(root, 'release') } },
})
const repository = values.repository?.replace(/(?:\.git)?\/*$/, '') ?? null
if (repository !== null && !/^https:\/\/[^/]+\/.+/.test(repository)) {
  refuse(`--repository: "${values.repository}" is not accepted; it must be like https://host/owner/name`)
}
const changed = execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' })
if (changed !== '') refuse(`a release is made of a commit, and there are changes:\n${changed}`)

const into = resolve(values.into)
const built = buildPackages({ version, repository })
const faults = built.flatMap((directory) => faultsOf(directory).map((fault) => `${directory}: ${fault}`))
if (faults.length > 0) refuse(faults.join('\n'))

const tarballs = packPackages(built, into).map(({ path }) => path)
const bill = join(into, `deskwire-${version}.cdx.json`)
const named = packages.map((name, n) => ({ name, directory: built[n] as string }))
writeFileSync(bill, billOf(named, version))
const sums = [...tarballs, bill].map((path) => `${sha256(path)}  ${basename(path)}\n`)
writeFileSync(join(into, 'SHA256SUMS'), sums.join(''))
process.stdout.write(`release ${version} in ${into}:\n${sums.join('')}`)
if (repository === null) {
  console.log(
    'Without --repository the manifests do not say where the source is, and npm refuses provenance.',
  )
}

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

function refuse(why: string): never {
  console.error(why)
  process.exit(1)
}
