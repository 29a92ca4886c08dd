/**
 * Each package as it is published, in its own `dist/`: JavaScript and declarations in `lib/`, a manifest that points at them,
 * and what the package has beside its code. In the repository the manifests point at the TypeScript sources.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { publishedManifest, type Release } from './manifest.ts'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** The packages that are published, by their folders, each after those that it depends on. */
export const packages = ['sdk', 'mirror', 'service', 'cli'] as const

/** What a package publishes beside its code, where it has it. */
const beside = ['README.md', 'vectors', 'assets'] as const

/**
 * Builds all packages, in some seconds.
 * @param place where a package's directory is made anew; its `dist/` unless told.
 * @returns their directories, in the order of `packages`.
 */
export function buildPackages(
  release: Release,
  place = (name: string) => join(root, 'packages', name, 'dist'),
): readonly string[] {
  const compiled = mkdtempSync(join(tmpdir(), 'deskwire-build-'))
  try {
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const project = join(root, 'tsconfig.build.json')
    execFileSync(process.execPath, [compiler, '-p', project, '--outDir', compiled], { stdio: 'inherit' })
    return packages.map((name) => {
      const target = place(name)
      rmSync(target, { recursive: true, force: true })
      cpSync(join(compiled, 'packages', name, 'src'), join(target, 'lib'), { recursive: true })
      complete(name, target, release)
      return target
    })
  } finally {
    rmSync(compiled, { recursive: true })
  }
}

/** Everything but the compiled code. */
function complete(name: string, target: string, release: Release): void {
  const source = join(root, 'packages', name)
  for (const path of filesOf(join(target, 'lib'), '.d.ts')) {
    writeFileSync(path, withBuiltImports(readFileSync(path, 'utf8')))
  }
  cpSync(join(root, 'LICENSE'), join(target, 'LICENSE'))
  for (const path of beside) {
    if (existsSync(join(source, path))) cpSync(join(source, path), join(target, path), { recursive: true })
  }
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
  const published = publishedManifest(manifest, `packages/${name}`, release)
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
}

function filesOf(directory: string, ending: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .map((path) => join(directory, path))
}

/** The compiler rewrites the imports of what runs, and leaves those of declarations. */
function withBuiltImports(declarations: string): string {
  return declarations.replace(/(?<=\bfrom |\bimport\()(["'])(\.[^"']*)\.ts\1/g, '$1$2.js$1')
}
