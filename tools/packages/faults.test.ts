/** Each fault of a package is found, and a sound package has none. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { faultsOf } from './faults.ts'
import { publishedManifest } from './manifest.ts'

const manifest = {
  name: '@deskwire/example',
  version: '1.2.3',
  license: 'Apache-2.0',
  engines: { node: '>=20' },
  exports: { '.': { types: './lib/index.d.ts', default: './lib/index.js' } },
  dependencies: { pg: '8.0.0' },
}

const sound = {
  'package.json': JSON.stringify(manifest),
  'README.md':
    '[code](lib/index.js), [the licence](LICENSE), [elsewhere](https://example.com), [here](#here)',
  LICENSE: 'yes',
  'lib/index.js':
    "import { readFile } from 'node:fs/promises'\nimport {\n  Pool } from 'pg'\nexport * from './other.js'\n",
  'lib/index.d.ts': '',
  'lib/other.js': "export const load = () => import('pg/lib/client.js')\n",
}

/** With some files replaced; null removes one. */
function faultsWith(files: Readonly<Record<string, string | null>>): readonly string[] {
  const directory = mkdtempSync(join(tmpdir(), 'deskwire-faults-'))
  try {
    for (const [path, text] of Object.entries({ ...sound, ...files })) {
      if (text === null) continue
      mkdirSync(dirname(join(directory, path)), { recursive: true })
      writeFileSync(join(directory, path), text)
    }
    return faultsOf(directory)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

const changed = (members: object) => ({ 'package.json': JSON.stringify({ ...manifest, ...members }) })

test.each([
  ['nothing', {}, []],
  ['a source', { 'src/index.ts': '' }, ['src/index.ts is not to be published']],
  ['a test', { 'lib/index.test.js': '' }, ['lib/index.test.js is not to be published']],
  [
    'no licence',
    { LICENSE: null },
    ['there is no LICENSE', 'README.md links to LICENSE, which is not there'],
  ],
  ['a link out', { 'README.md': '[a](../a.md)' }, ['README.md links to ../a.md, which is not there']],
  ['no types', { 'lib/index.d.ts': null }, ['package.json points at lib/index.d.ts, which is not there']],
  [
    'a module by condition',
    {
      ...changed({ imports: { '#other': { browser: './lib/gone.js', default: './lib/other.js' } } }),
      'lib/other.js': "import { a } from '#other'\nexport { b } from '#unnamed'\n",
    },
    [
      'package.json points at lib/gone.js, which is not there',
      'lib/other.js imports #unnamed, which is not there',
    ],
  ],
  ['what is private', changed({ private: true }), ['package.json has private']],
  ['tools', changed({ devDependencies: {} }), ['package.json has devDependencies']],
  ['no version', changed({ version: undefined }), ['package.json lacks version, license or engines']],
  ['a range', changed({ dependencies: { pg: '*' } }), ['pg is wanted as *, and not in one version']],
  [
    'an import that it does not name',
    { 'lib/other.js': "import zod from 'zod'\nexport { x } from './gone.js'\nawait import('@a/b/c')\n" },
    ['zod', './gone.js', '@a/b/c'].map((from) => `lib/other.js imports ${from}, which is not there`),
  ],
  [
    'an SQL file that it reads',
    {
      'lib/other.js': "sql(import.meta.url, './there.sql')\nsql(import.meta.url, './below/gone.sql')\n",
      'lib/there.sql': 'select 1',
    },
    ['lib/other.js reads ./below/gone.sql, which is not there'],
  ],
])('%s', (_, files, faults) => {
  expect(faultsWith(files)).toEqual(faults)
})

test('a manifest is published with its version, built targets and its repository, and without what is of the checkout', () => {
  const source = {
    '//': 'a note',
    name: '@deskwire/example',
    private: true,
    license: 'Apache-2.0',
    scripts: { pack: 'node ../../tools/pack.ts' },
    publishConfig: { engines: { node: '>=20' }, sideEffects: false },
    bin: { example: 'src/main.ts' },
    exports: { '.': './src/index.ts', './deep': './src/deep/deep.ts' },
    imports: { '#deep': { browser: './src/page.ts', default: './src/deep/deep.ts' } },
    dependencies: { '@deskwire/sdk': '*', pg: '8.0.0' },
    devDependencies: { vitest: '5.0.0' },
    peerDependencies: { '@deskwire/service': '*', '@duckdb/node-api': '*' },
  } as const
  const release = { version: '1.2.3', repository: 'https://example.com/a/b' }
  expect(publishedManifest(source, 'packages/example', release)).toEqual({
    name: '@deskwire/example',
    version: '1.2.3',
    license: 'Apache-2.0',
    repository: { type: 'git', url: 'git+https://example.com/a/b.git', directory: 'packages/example' },
    engines: { node: '>=20' },
    sideEffects: false,
    bin: { example: 'lib/main.js' },
    exports: {
      '.': { types: './lib/index.d.ts', default: './lib/index.js' },
      './deep': { types: './lib/deep/deep.d.ts', default: './lib/deep/deep.js' },
    },
    imports: { '#deep': { browser: './lib/page.js', default: './lib/deep/deep.js' } },
    dependencies: { '@deskwire/sdk': '1.2.3', pg: '8.0.0' },
    peerDependencies: { '@deskwire/service': '1.2.3', '@duckdb/node-api': '*' },
  })
})
