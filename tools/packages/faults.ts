/** The faults of a package as it is published. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, relative } from 'node:path'

/** All that a tarball may contain. */
const published =
  /^(?:package\.json|README\.md|LICENSE|lib\/[\w/-]+\.(?:js|d\.ts|sql)|vectors\/[\w-]+\.json|assets\/[\w/.-]+)$/

interface PublishedManifest {
  readonly name: string
  readonly version?: string
  readonly license?: string
  readonly engines?: { readonly node?: string }
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  /** Optional, and imported only where they are used. */
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly bin?: Readonly<Record<string, string>>
  readonly exports?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Modules of its own by name (`#name`), by the condition of who imports them. */
  readonly imports?: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** Of an unpacked package, a line each. */
export function faultsOf(directory: string): readonly string[] {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(directory, join(parentPath, name)).replaceAll('\\', '/'))
  const manifest: PublishedManifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  return [
    ...files.filter((file) => !published.test(file)).map((file) => `${file} is not to be published`),
    ...['README.md', 'LICENSE'].filter((file) => !files.includes(file)).map((file) => `there is no ${file}`),
    ...manifestFaults(manifest, files),
    ...linkFaults(directory),
    ...files
      .filter((file) => file.endsWith('.js'))
      .flatMap((file) => [...importFaults(directory, file, manifest), ...readFaults(directory, file)]),
  ]
}

function manifestFaults(manifest: PublishedManifest, files: readonly string[]): string[] {
  const { version = '', license, engines, bin = {}, exports = {}, imports = {} } = manifest
  const targets = [
    ...Object.values(bin),
    ...Object.values({ ...exports, ...imports }).flatMap((conditions) => Object.values(conditions)),
  ]
  return [
    ...targets
      .map((target) => target.replace(/^\.\//, ''))
      .filter((target) => !files.includes(target))
      .map((target) => `package.json points at ${target}, which is not there`),
    ...['private', 'devDependencies', 'publishConfig', 'scripts', '//']
      .filter((member) => member in manifest)
      .map((member) => `package.json has ${member}`),
    ...(/^\d+\.\d+\.\d+/.test(version) && license && engines?.node
      ? []
      : ['package.json lacks version, license or engines']),
    ...Object.entries({ ...manifest.dependencies, ...manifest.optionalDependencies })
      .filter(([, range]) => !/^\d/.test(range))
      .map(([name, range]) => `${name} is wanted as ${range}, and not in one version`),
  ]
}

/** Links of the README to files that the package does not have. */
function linkFaults(directory: string): string[] {
  const links = readFileSync(join(directory, 'README.md'), 'utf8').matchAll(/\]\(([^)#\s]+)/g)
  return [...links]
    .map(([, target = '']) => target)
    .filter((target) => !/^https:/.test(target) && !existsSync(join(directory, target)))
    .map((target) => `README.md links to ${target}, which is not there`)
}

/** Imports that the manifest does not name: they work in a checkout, and fail where the package is installed. */
function importFaults(directory: string, file: string, manifest: PublishedManifest): string[] {
  const { dependencies, optionalDependencies, peerDependencies, imports } = manifest
  const named = { ...dependencies, ...optionalDependencies, ...peerDependencies, ...imports }
  const code = readFileSync(join(directory, file), 'utf8')
  const imported = code.matchAll(
    /^(?:import|export)\b[^'"`;]*?\bfrom ["']([^"']+)["']|\bimport\(["']([^"']+)["']\)/gm,
  )
  return [...imported]
    .map(([, from, lazily]) => (from ?? lazily) as string)
    .filter((specifier) => !isBuiltin(specifier))
    .filter((specifier) =>
      specifier.startsWith('.')
        ? !existsSync(join(directory, dirname(file), specifier))
        : !(packageOf(specifier) in named),
    )
    .map((specifier) => `${file} imports ${specifier}, which is not there`)
}

/** SQL files that the code reads from where it is. */
function readFaults(directory: string, file: string): string[] {
  const code = readFileSync(join(directory, file), 'utf8')
  return [...code.matchAll(/["'](\.[^"'\s]*\.sql)["']/g)]
    .map(([, path]) => path as string)
    .filter((path) => !existsSync(join(directory, dirname(file), path)))
    .map((path) => `${file} reads ${path}, which is not there`)
}

/** `@deskwire/sdk/signature` → `@deskwire/sdk`. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
