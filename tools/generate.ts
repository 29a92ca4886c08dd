/**
 * Writes every generated file. With --check it writes nothing, and fails when one is out of date; a test with a
 * database checks docs/schema.sql.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { apiDocument } from '../packages/service/src/api-document.ts'
import { kinds } from '../packages/service/src/desk/index.ts'
import { version } from '../packages/service/src/kernel/version.ts'
import { openApiDocument } from '../packages/service/src/openapi/document.ts'
import { adminApi } from '../packages/service/src/roles/admin.ts'
import { rulesFile } from './generate/alerts.ts'
import { commandsPage } from './generate/commands.ts'
import { consoleLists } from './generate/console-lists.ts'
import { dashboardFile } from './generate/dashboard.ts'
import { errorPage } from './generate/errors.ts'
import { eventPage } from './generate/events.ts'
import { fieldPage } from './generate/fields.ts'
import { keyPage } from './generate/keys.ts'
import { methodsPage } from './generate/methods.ts'
import { metricsPage } from './generate/metrics.ts'
import { operationsModule } from './generate/operations.ts'
import { type ApiDocument, pythonModels } from './generate/python-models.ts'
import { blocking, listFilters, pythonResources } from './generate/python-resources.ts'
import { schemaPage } from './generate/schema.ts'
import { settingsPage } from './generate/settings.ts'
import { typeScriptClient } from './generate/typescript.ts'
import { webhookPage } from './generate/webhooks.ts'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

const document = await apiDocument(kinds)
const python = 'packages/sdk-python/src/deskwire'
const admin = (await openApiDocument([adminApi])) as unknown as ApiDocument
const api = withPathsOf(document as unknown as ApiDocument, admin)
const written = ['client', 'rows', 'stream', 'transport']
const files: Readonly<Record<string, () => string | Buffer | Promise<string>>> = {
  'package-lock.json': lockFile,
  'openapi.json': () => `${JSON.stringify(document, null, 2)}\n`,
  'docs/reference/errors.md': errorPage,
  'docs/reference/events.md': () => eventPage(kinds),
  'docs/reference/fields.md': () => fieldPage(kinds),
  'deploy/grafana/deskwire.json': dashboardFile,
  'deploy/prometheus/deskwire.rules.yaml': rulesFile,
  'docs/reference/keys.md': () => keyPage(kinds),
  'docs/reference/methods.md': () => methodsPage(api),
  'docs/reference/metrics.md': metricsPage,
  'docs/reference/settings.md': settingsPage,
  'docs/reference/webhooks.md': () => webhookPage(kinds),
  'packages/sdk/src/generated.ts': () => formatted('generated.ts', typeScriptClient(api, version)),
  'packages/cli/src/resources/operations.ts': () => operationsModule(api),
  'packages/console/src/generated/lists.ts': () => consoleLists(kinds),
  'packages/sdk-python/LICENSE': () => readFileSync(join(root, 'LICENSE')),
  [`${python}/_version.py`]: () =>
    `"""Made by npm run generate: all packages have one version."""\n\n__version__ = "${version}"\n`,
  [`${python}/models.py`]: () => pythonModels(api, listFilters(api)),
  [`${python}/_async/resources.py`]: () => pythonResources(api),
  [`${python}/_sync/__init__.py`]: () => '',
  [`${python}/_sync/resources.py`]: () => blocking(pythonResources(api)),
  // The commands load the SDK, so what is generated of it comes first.
  'docs/reference/commands.md': commandsPage,
  ...Object.fromEntries(
    written.map((name) => [
      `${python}/_sync/${name}.py`,
      () => blocking(readFileSync(join(root, `${python}/_async/${name}.py`), 'utf8')),
    ]),
  ),
}

const check = process.argv.includes('--check')
if (!check) writeFileSync(join(root, 'docs/schema.sql'), await schemaPage())
const stale: string[] = []
for (const [path, make] of Object.entries(files)) {
  const target = join(root, path)
  const content = Buffer.from(await make())
  if (check) {
    if (read(target)?.equals(content) !== true) stale.push(path)
  } else {
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, content)
  }
}
if (stale.length > 0) {
  console.error(`not up to date: ${stale.join(', ')}; run npm run generate and commit what it writes`)
  process.exitCode = 1
}

/** What clients call: the API, and with a key of its own the operator's. */
function withPathsOf(document: ApiDocument, other: ApiDocument): ApiDocument {
  const schemas = { ...other.components.schemas, ...document.components.schemas }
  return { ...document, paths: { ...document.paths, ...other.paths }, components: { schemas } }
}

function read(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch {
    return null
  }
}

/**
 * npm skips an optional package without a word if its `engines` exclude the Node that runs npm, a bundler's program for one. What is
 * installed here runs on the Node of the checkout, so the lock file does not have them.
 */
function lockFile(): string {
  const lock: { packages: Record<string, { optional?: boolean; engines?: unknown }> } = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  )
  for (const entry of Object.values(lock.packages)) if (entry.optional) delete entry.engines
  return `${JSON.stringify(lock, null, 2)}\n`
}

function formatted(name: string, text: string): string {
  const biome = join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome')
  return execFileSync(process.execPath, [biome, 'format', `--stdin-file-path=${name}`], {
    cwd: root,
    input: text,
    encoding: 'utf8',
  })
}
