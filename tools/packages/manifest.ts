/**
 * Makes the published manifest from the repository's, which points at TypeScript sources and has no version, so that
 * npm refuses to pack or publish it.
 */

/** The members that differ from the published manifest. */
interface SourceManifest {
  readonly '//': string
  readonly name: string
  readonly private: true
  /** They work in the checkout alone. */
  readonly scripts?: Readonly<Record<string, string>>
  /** Replace members of the same name, as in pnpm; npm reads them as settings. */
  readonly publishConfig: Readonly<Record<string, unknown>>
  readonly bin?: Readonly<Record<string, string>>
  readonly exports?: Readonly<Record<string, string>>
  /** Files by the condition of who imports them: bundles for browsers have some of their own. */
  readonly imports?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

export interface Release {
  readonly version: string
  /** `https://host/owner/name`; null leaves it out, and then there is no provenance. */
  readonly repository: string | null
}

interface PublishedManifest extends Readonly<Record<string, unknown>> {
  readonly name: string
  readonly version: string
  readonly exports?: Readonly<Record<string, { readonly types: string; readonly default: string }>>
}

/** Of the package in `directory`, a path in the repository. */
export function publishedManifest(
  source: SourceManifest,
  directory: string,
  { version, repository }: Release,
): PublishedManifest {
  const {
    '//': _note,
    private: _private,
    scripts: _scripts,
    devDependencies: _dev,
    publishConfig,
    ...kept
  } = source
  const { name, bin, exports, imports, dependencies, peerDependencies, ...others } = kept
  // All packages of a release have one version.
  const inRelease = (range: string, of: string) => (of.startsWith('@deskwire/') ? version : range)
  return {
    name,
    version,
    ...others,
    ...(repository && { repository: { type: 'git', url: `git+${repository}.git`, directory } }),
    ...(bin && { bin: mapValues(bin, (path) => built(path, '.js')) }),
    ...publishConfig,
    ...(exports && {
      exports: mapValues(exports, (path) => ({
        types: `./${built(path, '.d.ts')}`,
        default: `./${built(path, '.js')}`,
      })),
    }),
    ...(imports && {
      imports: mapValues(imports, (files) => mapValues(files, (path) => `./${built(path, '.js')}`)),
    }),
    ...(dependencies && { dependencies: mapValues(dependencies, inRelease) }),
    ...(peerDependencies && { peerDependencies: mapValues(peerDependencies, inRelease) }),
  }
}

/** `./src/index.ts` → `lib/index.js`. */
function built(path: string, extension: string): string {
  return path.replace(/^(?:\.\/)?src\//, 'lib/').replace(/\.ts$/, extension)
}

function mapValues<Of, To>(
  record: Readonly<Record<string, Of>>,
  map: (value: Of, key: string) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]))
}
