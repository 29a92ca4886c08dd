/**
 * `sh tools/node.sh checks/packages/compare-clients.ts TARBALL`: what the SDK (its tarball, of `npm run pack`) costs next to other clients:
 * the figures of the table in docs/compare.md. It installs them from npm.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'

const runs = 15
const clients = [
  {
    name: '@deskwire/sdk',
    use: "import { createClient } from '@deskwire/sdk'\nexport const client = createClient({ baseUrl: 'http://127.0.0.1', apiKey: 'dwk_x' })",
  },
  {
    name: 'stripe',
    use: "import Stripe from 'stripe'\nexport const client = new Stripe('sk_test_x')",
  },
  {
    name: 'svix',
    use: "import { Svix } from 'svix'\nexport const client = new Svix('testsk_x')",
  },
] as const

const [tarball = ''] = process.argv.slice(2)
const scratch = mkdtempSync(join(tmpdir(), 'deskwire-clients-'))
try {
  writeFileSync(join(scratch, 'package.json'), '{ "type": "module", "private": true }')
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const wanted = [resolve(tarball), 'stripe@23.1.0', 'svix@2.5.0', 'esbuild@0.28.2']
  execFileSync('npm', ['install', ...options, ...wanted], { cwd: scratch, stdio: 'inherit' })
  for (const { name, use } of clients) {
    const program = join(scratch, 'program.mjs')
    writeFileSync(program, use)
    const bundle = join(scratch, 'bundle.js')
    const flags = [
      '--bundle',
      '--minify',
      '--format=esm',
      '--platform=browser',
      '--target=es2022',
      '--log-level=error',
    ]
    execFileSync(join(scratch, 'node_modules/.bin/esbuild'), [program, ...flags, `--outfile=${bundle}`])
    const directory = join(scratch, 'node_modules', name)
    const { dependencies = {}, version } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
    console.log(name, version, {
      installedBytes: bytesOf(directory),
      dependencies: Object.keys(dependencies).length,
      bundleGzippedBytes: gzipSync(readFileSync(bundle), { level: 9 }).length,
      coldStartMs: coldStart(program),
      emptyStartMs: coldStart('--eval='),
    })
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

function bytesOf(directory: string): number {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  return files.reduce((sum, one) => sum + statSync(join(one.parentPath, one.name)).size, 0)
}

/** The median time of a process that imports the package and makes a client. */
function coldStart(program: string): number {
  const times = Array.from({ length: runs }, () => {
    const began = performance.now()
    spawnSync(process.execPath, [program], { cwd: scratch })
    return performance.now() - began
  })
  return Math.round(times.sort((a, b) => a - b)[Math.floor(runs / 2)] ?? 0)
}
