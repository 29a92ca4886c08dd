/**
 * Builds each package as it is published, in its own `dist/`: JavaScript and declarations in `lib/`, a manifest that
 * points at them, and other files. In the repository manifests point at the TypeScript sources.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { publishedManifest, type Release } from './manifest.ts'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** Folders, each after those that it depends on. */
export const packages = ['sdk', 'mirror', 'mcp', 'embedded-postgres', 'service', 'cli', 'deskwire'] as const

/** Published next to the code, where the package has it. */
const beside = ['README.md', 'vectors', 'assets'] as const

/** Modules of the service that the command line contains, so that clients install no server; by what it imports. */
const includedInCli: Readonly<Record<string, string>> = {
  '@deskwire/service/closest': 'kernel/closest.js',
  '@deskwire/service/kinds': 'desk-kinds.js',
  '@deskwire/service/version': 'kernel/version.js',
}

/**
 * Builds all packages, in some seconds, and returns their directories. `place`: where a package's directory is created;
 * default: its `dist/`. `flags`: the compiler's own, for example `--noCheck` where the sources' types are checked elsewhere.
 */
export function buildPackages(
  release: Release,
  place = (name: string) => join(root, 'packages', name, 'dist'),
  flags: readonly string[] = [],
): readonly string[] {
  execFileSync(process.execPath, [join(root, 'tools/build-pages.ts')], { stdio: 'inherit' })
  const compiled = mkdtempSync(join(tmpdir(), 'deskwire-build-'))
  try {
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const project = join(root, 'tsconfig.build.json')
    execFileSync(process.execPath, [compiler, '-p', project, '--outDir', compiled, ...flags], {
      stdio: 'inherit',
    })
    nameCommit(join(compiled, 'packages/service/src/kernel/version.js'))
    return packages.map((name) => {
      const target = place(name)
      rmSync(target, { recursive: true, force: true })
      cpSync(join(compiled, 'packages', name, 'src'), join(target, 'lib'), { recursive: true })
      copySql(join(root, 'packages', name, 'src'), join(target, 'lib'))
      if (name === 'cli') includeModules(join(compiled, 'packages/service/src'), join(target, 'lib'))
      complete(name, target, release)
      return target
    })
  } finally {
    rmSync(compiled, { recursive: true })
  }
}

/** The code reads them from where it is itself. */
function copySql(source: string, lib: string): void {
  for (const path of readdirSync(source, { recursive: true, encoding: 'utf8' }))
    if (path.endsWith('.sql')) cpSync(join(source, path), join(lib, path))
}

/** Copies the modules with all that they import, and rewrites their imports in `lib` to the copies. */
function includeModules(service: string, lib: string): void {
  const copies = join(lib, 'service')
  const wanted = new Set(Object.values(includedInCli).map((path) => join(service, path)))
  for (const path of wanted) {
    for (const [, , from = ''] of readFileSync(path, 'utf8').matchAll(imported))
      if (from.startsWith('.')) wanted.add(join(dirname(path), from))
    cpSync(path, join(copies, relative(service, path)))
  }
  for (const path of readdirSync(lib, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.js') || path.startsWith('service/')) continue
    const code = readFileSync(join(lib, path), 'utf8')
    const changed = code.replace(imported, (whole, before, from: string) => {
      const included = includedInCli[from]
      if (included === undefined) return whole
      const to = relative(dirname(join(lib, path)), join(copies, included))
      return `${before}'${to.startsWith('.') ? to : `./${to}`}'`
    })
    if (changed !== code) writeFileSync(join(lib, path), changed)
  }
}

/** Writes the commit into the compiled module; outside a repository it stays null. */
function nameCommit(path: string): void {
  const git = (...words: string[]) => {
    try {
      return execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio: 'pipe' }).trim()
    } catch {
      return ''
    }
  }
  const head = git('rev-parse', '--short=12', 'HEAD')
  if (head === '') return
  const name = `${head}${git('status', '--porcelain', '--untracked-files=no') === '' ? '' : '+'}`
  const before = readFileSync(path, 'utf8')
  const after = before.replace('export const commit = null', `export const commit = '${name}'`)
  if (after === before) throw new Error(`${path} has no commit to be named`)
  writeFileSync(path, after)
}

/** Everything but the compiled code. */
function complete(name: string, target: string, release: Release): void {
  const source = join(root, 'packages', name)
  cpSync(join(root, 'LICENSE'), join(target, 'LICENSE'))
  for (const path of beside) {
    if (existsSync(join(source, path))) cpSync(join(source, path), join(target, path), { recursive: true })
  }
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
  const published = publishedManifest(manifest, `packages/${name}`, release)
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
  const entries = Object.values(published.exports ?? {}).map(({ types }) => join(target, types))
  completeDeclarations(join(target, 'lib'), entries)
}

/**
 * Keeps the declarations that the entries lead to, and rewrites their imports to JavaScript, as the compiler does in
 * code alone, and of pg to `pg.d.ts`.
 */
function completeDeclarations(lib: string, entries: readonly string[]): void {
  const typesOfPg = join(lib, 'pg.d.ts')
  cpSync(fileURLToPath(new URL('pg.d.ts', import.meta.url)), typesOfPg)
  const reached = new Set(entries)
  for (const path of reached) {
    const declarations = readFileSync(path, 'utf8').replace(imported, (whole, before, from: string) => {
      if (from === 'pg') {
        reached.add(typesOfPg)
        return `${before}'${relative(dirname(path), lib) || '.'}/pg.js'`
      }
      if (!from.startsWith('.')) return whole
      reached.add(join(dirname(path), from.replace(/\.ts$/, '.d.ts')))
      return `${before}'${from.replace(/\.ts$/, '.js')}'`
    })
    writeFileSync(path, declarations)
  }
  for (const path of readdirSync(lib, { recursive: true, encoding: 'utf8' })) {
    if (path.endsWith('.d.ts') && !reached.has(join(lib, path))) rmSync(join(lib, path))
  }
}

/** The text before the specifier, and the specifier. */
const imported = /(\bfrom |\bimport\()["']([^"']+)["']/g
