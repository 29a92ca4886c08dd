/**
 * `npm run build:console`: the console, from `packages/console` into `packages/service/assets/console`, where the service
 * serves it from. Does nothing while its sources are those of the last build.
 */
import { createHash, type Hash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const source = join(root, 'packages/console')
const target = join(root, 'packages/service/assets/console')
const ofConsole = createRequire(join(source, 'package.json'))
/** The hash of what the build in `target` was made of. */
const mark = join(target, 'sources.txt')

/** All that a build depends on; the lock file names the releases of the libraries. */
const sources = [
  'packages/console/index.html',
  'packages/console/src',
  'packages/sdk/src',
  'package-lock.json',
  'tools/build-console.ts',
]

const hash = hashOf(sources)
if (!existsSync(mark) || readFileSync(mark, 'utf8') !== hash) {
  if (isInstalled('vite')) await build(hash)
  else console.error('the console is not built: its tools are not installed; npm ci brings them')
}

async function build(sourcesHash: string): Promise<void> {
  mkdirSync(dirname(target), { recursive: true })
  // Beside its place, so that a service that reads meanwhile finds the one or the other, whole.
  const made = mkdtempSync(`${target}-`)
  try {
    await bundle(made)
    writeFileSync(join(made, 'sources.txt'), sourcesHash)
    chmodSync(made, 0o755)
    rmSync(target, { recursive: true, force: true })
    renameSync(made, target)
  } catch (error) {
    rmSync(made, { recursive: true })
    // Another build has put the same there in between.
    if (!existsSync(mark) || readFileSync(mark, 'utf8') !== sourcesHash) throw error
  }
}

async function bundle(into: string): Promise<void> {
  // Whoever starts it: tests would have React's own checks built in, three times as large.
  process.env.NODE_ENV = 'production'
  const { build: buildWithVite } = await import('vite')
  const { default: react } = await import('@vitejs/plugin-react')
  await buildWithVite({
    root: source,
    base: '/console/',
    configFile: false,
    logLevel: 'warn',
    plugins: [react()],
    build: {
      outDir: into,
      emptyOutDir: true,
      target: 'es2022',
      // The policy of the page allows neither data: nor blob:.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      license: { fileName: 'assets/licenses.md' },
    },
  })
  const font = ofConsole.resolve('@fontsource-variable/geist/LICENSE')
  const licenses = join(into, 'assets/licenses.md')
  const { version } = ofConsole('@fontsource-variable/geist/package.json')
  const heading = `## @fontsource-variable/geist - ${version} (OFL-1.1)`
  writeFileSync(licenses, `${readFileSync(licenses, 'utf8')}\n${heading}\n\n${readFileSync(font, 'utf8')}`)
}

function hashOf(paths: readonly string[]): string {
  const summed = createHash('sha256')
  for (const path of paths) addTo(summed, path)
  return `${summed.digest('hex')}\n`
}

/** A file, or what is in a folder, by name. */
function addTo(summed: Hash, path: string): void {
  const place = join(root, path)
  if (statSync(place).isFile()) {
    summed.update(`${path}\0`).update(readFileSync(place)).update('\0')
    return
  }
  for (const name of readdirSync(place).sort()) addTo(summed, `${path}/${name}`)
}

function isInstalled(name: string): boolean {
  try {
    ofConsole.resolve(name)
    return true
  } catch {
    return false
  }
}
