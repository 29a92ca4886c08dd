/**
 * `npm run check -- clients`: what the SDK is and costs next to other clients; installs them, and writes the table into RESULTS.md.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { version } from '../packages/service/src/kernel/version.ts'
import { buildPackages } from '../tools/packages/build.ts'
import { packPackages } from '../tools/packages/pack.ts'

const runs = 15
const clients = [
  {
    name: '@deskwire/sdk',
    pages: 'iterators; each row once while rows change',
    retries: '4; by a table of method and failure; `Retry-After` up to a minute',
    errors: 'class by status; codes in the types',
    response: '`withResponse()`',
    use: "import { createClient } from '@deskwire/sdk'\nexport const client = createClient({ baseUrl: 'http://127.0.0.1', apiKey: 'dwk_x' })",
  },
  {
    name: 'stripe',
    pages: 'iterators, by the last id',
    retries: '2; no response, 409, 5xx, or as the server says',
    errors: 'class by type of error',
    response: '`lastResponse` of each result',
    use: "import Stripe from 'stripe'\nexport const client = new Stripe('sk_test_x')",
  },
  {
    name: 'svix',
    pages: 'pages by hand',
    retries: '2; no response and 5xx, any method',
    errors: 'one class',
    response: 'of errors alone',
    use: "import { Svix } from 'svix'\nexport const client = new Svix('testsk_x')",
  },
] as const

const rows: string[][] = [
  ['', ...clients.map(({ name }) => name)],
  ['---', ...clients.map(() => '---')],
]
const scratch = mkdtempSync(join(tmpdir(), 'deskwire-clients-'))
try {
  const built = buildPackages({ version, repository: null }, (name) => join(scratch, 'built', name))
  const tarballs = packPackages(built, join(scratch, 'packed'))
  const sdk = tarballs.find(({ name }) => name === '@deskwire/sdk')?.path ?? ''
  writeFileSync(join(scratch, 'package.json'), '{ "type": "module", "private": true }')
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const wanted = [sdk, 'stripe@23.1.0', 'svix@2.5.0', 'esbuild@0.28.2']
  execFileSync('npm', ['install', ...options, ...wanted], { cwd: scratch, stdio: 'inherit' })
  const measured = clients.map((client) => measure(client.name, client.use))
  const row = (what: string, of: (n: number) => string | number) =>
    rows.push([what, ...clients.map((_, n) => of(n).toLocaleString('en'))])
  row('release', (n) => measured[n]?.version ?? '')
  row('methods', (n) => measured[n]?.methods ?? 0)
  row('lists', (n) => clients[n]?.pages ?? '')
  row('retries', (n) => clients[n]?.retries ?? '')
  row('errors', (n) => clients[n]?.errors ?? '')
  row('status and headers', (n) => clients[n]?.response ?? '')
  row('dependencies', (n) => measured[n]?.dependencies ?? 0)
  row('bytes installed', (n) => measured[n]?.installed ?? 0)
  row('bytes of declarations', (n) => measured[n]?.declarations ?? 0)
  row('bytes of a bundle for browsers, gzipped', (n) => measured[n]?.bundle ?? 0)
  row(`ms to import it and make a client, median of ${runs}`, (n) => measured[n]?.coldStart ?? 0)
  writeTable(rows.map((cells) => `| ${cells.join(' | ')} |`))
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

function measure(name: string, use: string) {
  const program = join(scratch, 'program.mjs')
  writeFileSync(program, use)
  const bundle = join(scratch, 'bundle.js')
  const flags = ['--bundle', '--minify', '--format=esm', '--platform=browser', '--target=es2022']
  execFileSync(join(scratch, 'node_modules/.bin/esbuild'), [
    program,
    ...flags,
    '--log-level=error',
    `--outfile=${bundle}`,
  ])
  const directory = join(scratch, 'node_modules', name)
  const { dependencies = {}, version } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  return {
    version: version as string,
    methods: methodsOf(program),
    dependencies: Object.keys(dependencies).length,
    installed: bytesOf(directory),
    declarations: bytesOf(directory, /\.d\.m?ts$/),
    bundle: gzipSync(readFileSync(bundle), { level: 9 }).length,
    coldStart: timeOf([program]) - timeOf(['--eval', '']),
  }
}

/** What can be called of the client that the program exports, and of the objects in it. */
function methodsOf(program: string): number {
  const count = `
    const { client } = await import(${JSON.stringify(program)})
    const seen = new Set()
    let methods = 0
    const visit = (object) => {
      if (seen.has(object)) return
      seen.add(object)
      const names = new Set()
      for (let at = object; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at))
        for (const name of Object.getOwnPropertyNames(at)) if (/^[a-z]/.test(name) && name !== 'constructor') names.add(name)
      for (const name of names) {
        const value = object[name]
        if (typeof value === 'function') methods++
        else if (typeof value === 'object' && value !== null && !Array.isArray(value)) visit(value)
      }
    }
    visit(client)
    console.log(methods)`
  const words = ['--input-type=module', '--eval', count]
  return Number(execFileSync(process.execPath, words, { cwd: scratch, encoding: 'utf8' }))
}

function bytesOf(directory: string, named = /./): number {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter(
    (one) => one.isFile() && named.test(one.name),
  )
  return files.reduce((sum, one) => sum + statSync(join(one.parentPath, one.name)).size, 0)
}

/** The median time of a process, in milliseconds. */
function timeOf(args: readonly string[]): number {
  const times = Array.from({ length: runs }, () => {
    const began = performance.now()
    spawnSync(process.execPath, args, { cwd: scratch })
    return performance.now() - began
  })
  return Math.round(times.sort((a, b) => a - b)[Math.floor(runs / 2)] ?? 0)
}

function writeTable(lines: readonly string[]): void {
  const file = new URL('RESULTS.md', import.meta.url)
  const marked = /(?<=<!-- clients: made by the check -->\n)[\s\S]*?(?=\n<!-- end -->)/
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(marked, () => lines.join('\n')),
  )
}
