/**
 * `npm run build:pages`: builds the console (`packages/console`) and the documentation (`packages/reference`) into
 * `packages/service/assets`. Does nothing while their sources are unchanged.
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
const ofConsole = createRequire(join(source, 'package.json'))

/** Of every build. The lock file names the releases of the libraries. */
const common = ['packages/sdk/src', 'package-lock.json', 'tools/build-pages.ts']

/**
 * What every page loads, with the lists; what details, dialogs and charts share; and then a file for each. Without this a
 * first load takes dozens of requests.
 */
const chunks = [
  { name: 'app', test: /console.src.(?:main|theme)\.ts/, priority: 3 },
  { name: 'charts', test: /console.src.design.chart\.tsx/, priority: 2 },
  { name: 'details', minShareCount: 2, priority: 1 },
]

await build('console', {
  sources: ['packages/console/index.html', 'packages/console/src'],
  make: bundle,
})
await build('docs', {
  sources: [
    'packages/reference/assets',
    'packages/reference/src',
    'packages/service/src',
    'packages/console/src/design/tokens.css',
    ...['guides', 'reference', 'glossary.md', 'specification.md'].map((name) => `docs/${name}`),
  ],
  async make(into) {
    const { writeSite } = await import('../packages/reference/src/site.ts')
    await writeSite(into)
  },
})

interface Site {
  readonly sources: readonly string[]
  readonly make: (into: string) => Promise<void>
}

async function build(name: string, { sources, make }: Site): Promise<void> {
  const target = join(root, 'packages/service/assets', name)
  /** The hash of the sources of the build in `target`. */
  const mark = join(target, 'sources.txt')
  const hash = hashOf([...sources, ...common])
  const isBuilt = () => existsSync(mark) && readFileSync(mark, 'utf8') === hash
  if (isBuilt()) return
  mkdirSync(dirname(target), { recursive: true })
  // Built next to its place and then moved, so that a running service finds one build or the other, whole.
  const made = mkdtempSync(`${target}-`)
  try {
    await make(made)
    writeFileSync(join(made, 'sources.txt'), hash)
    chmodSync(made, 0o755)
    rmSync(target, { recursive: true, force: true })
    renameSync(made, target)
  } catch (error) {
    rmSync(made, { recursive: true })
    // A concurrent build has done the same.
    if (isBuilt()) return
    // A package, or a program of one for this platform.
    if (!/^Cannot find (?:module|package|native binding)/.test(String((error as Error).message))) throw error
    process.stderr.write(`${name}: not built, as npm ci has left out its tools, which --omit=optional does\n`)
  }
}

async function bundle(into: string): Promise<void> {
  // Tests would otherwise include React's checks, three times as large.
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
      // The page's policy allows neither data: nor blob:.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      cssCodeSplit: false,
      // One file more is one request more; a test holds the compressed script of a first load below 200 KB.
      chunkSizeWarningLimit: 700,
      rolldownOptions: { output: { codeSplitting: { groups: chunks } } },
      license: { fileName: 'assets/licenses.md' },
    },
  })
  takeInHelpers(into)
  const font = ofConsole.resolve('@fontsource-variable/geist/LICENSE')
  const licenses = join(into, 'assets/licenses.md')
  const { version } = ofConsole('@fontsource-variable/geist/package.json')
  const heading = `## @fontsource-variable/geist - ${version} (OFL-1.1)`
  writeFileSync(licenses, `${readFileSync(licenses, 'utf8')}\n${heading}\n\n${readFileSync(font, 'utf8')}`)
}

/** Rolldown gives its few helpers a file, which every first load would ask for: the application takes them in. */
function takeInHelpers(into: string): void {
  const assets = join(into, 'assets')
  const nameOf = (start: string) => readdirSync(assets).find((name) => name.startsWith(start)) ?? start
  const [helpers, app, page] = [
    nameOf('rolldown-runtime-'),
    join(assets, nameOf('app-')),
    join(into, 'index.html'),
  ]
  const [, body, exported] =
    /^([\s\S]*)export\{([^}]*)\};?\s*$/.exec(readFileSync(join(assets, helpers), 'utf8')) ?? []
  const returned = exported?.replace(/(\w+) as (\w+)/g, '$2:$1')
  const script = readFileSync(app, 'utf8')
  const rewritten = script.replace(
    new RegExp(`import\\{([^}]*)\\}from"\\./${helpers}";`),
    (_, names: string) =>
      `const{${names.replace(/(\w+) as (\w+)/g, '$1:$2')}}=(()=>{${body}return{${returned}}})();`,
  )
  if (body === undefined || rewritten === script) throw new Error('the helpers of rolldown have another form')
  writeFileSync(app, rewritten)
  const html = readFileSync(page, 'utf8')
  writeFileSync(page, html.replace(new RegExp(`\\s*<script[^>]*${helpers}"></script>`), ''))
}

function hashOf(paths: readonly string[]): string {
  const summed = createHash('sha256')
  for (const path of paths) addTo(summed, path)
  return `${summed.digest('hex')}\n`
}

/** A file, or the files in a folder by name. */
function addTo(summed: Hash, path: string): void {
  const place = join(root, path)
  if (statSync(place).isFile()) {
    summed.update(`${path}\0`).update(readFileSync(place)).update('\0')
    return
  }
  for (const name of readdirSync(place).sort()) addTo(summed, `${path}/${name}`)
}
