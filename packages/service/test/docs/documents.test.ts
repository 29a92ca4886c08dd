/** What the Markdown files point at is there: links, headings, and the files of this repository that they name. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  anchorOf,
  filesEndingIn,
  headingsOf,
  linksOf,
  root,
  textOf,
  withoutBlocks,
} from '../../../testbed/repository.ts'

const files = filesEndingIn(['.md'])

/** The targets of links that lead nowhere, of a Markdown file of ours with this text. */
function deadLinks(file: string, text: string): string[] {
  const targets = linksOf(text).map(({ target }) => target)
  return targets.filter((target) => {
    if (/^[a-z]+:/.test(target)) return false
    const [path = '', anchor] = target.split('#')
    const led = join(dirname(file), path)
    if (path !== '' && !existsSync(join(root, led))) return true
    if (anchor === undefined) return false
    return !headingsOf(path === '' ? text : textOf(led))
      .map(anchorOf)
      .includes(anchor)
  })
}

test('there are files to look at', () => {
  expect(files).toContain('README.md')
  expect(files).toContain('docs/specification.md')
  expect(files).toContain('packages/sdk/README.md')
})

test('a link to a file or a heading that is not there is found', () => {
  const text =
    '# One\n[a](#one) [b](#two) [c](specification.md#7-sync) [d](specification.md#sync) [e](gone.md)'
  expect(deadLinks('docs/new.md', text)).toEqual(['#two', 'specification.md#sync', 'gone.md'])
})

/** Written by a program: nobody reads them from one end to the other. */
const isGenerated = (file: string) => file.startsWith('docs/reference/') || file === 'bench/RESULTS.md'

const withoutTables = (text: string) =>
  text.replace(/^<!-- \w+: made by the check -->$[\s\S]*?^<!-- end -->$/gm, '')

const wordsOf = (text: string) => text.split(/\s+/).filter((word) => word !== '').length

test('a document is no longer than its reader has patience', () => {
  const most = (file: string) => {
    if (/^docs\/decisions\/\d/.test(file)) return 500
    if (/^docs\/guides\//.test(file)) return 1_200
    if (/^packages\/\w+\/README/.test(file)) return 800
    return (
      { 'ARCHITECTURE.md': 2_000, 'CONTRIBUTING.md': 1_000, 'SECURITY.md': 600, 'bench/README.md': 700 }[
        file
      ] ?? Infinity
    )
  }
  expect(files.filter((file) => wordsOf(textOf(file)) > most(file))).toEqual([])
  expect(files.filter((file) => /^docs\/decisions\/\d/.test(file)).length).toBeLessThanOrEqual(30)
  expect(textOf('README.md').split('\n').length).toBeLessThanOrEqual(150)
  expect(textOf('docs/glossary.md').match(/^\| (?!term |---).*$/gm)?.length).toBeLessThanOrEqual(36)
})

test('all prose together, without programs and generated pages, keeps its length', () => {
  const prose = files
    .filter((file) => !isGenerated(file))
    .map((file) => withoutTables(withoutBlocks(textOf(file))))
  expect(prose.reduce((sum, text) => sum + wordsOf(text), 0)).toBeLessThanOrEqual(42_000)
})

describe.each(files)('%s', (file) => {
  const text = textOf(file)

  test('calls the address and the key by the names that clients read', () => {
    expect(text.match(/(?<!\w)(?:URL|KEY|DESKWIRE_KEY)=/g)).toBeNull()
  })

  test('links to what is there', () => {
    expect(deadLinks(file, text)).toEqual([])
  })

  test('names files that are there', () => {
    const named = [
      ...text.matchAll(/`((?:packages|tools|checks|docs|bench)\/[\w./-]+|[\w.-]+\/[\w./-]+\.ts)`/g),
    ].map(([, path = '']) => path)
    const folders = [root, join(root, dirname(file)), join(root, 'packages/service/src')]
    const isThere = (path: string) => folders.some((folder) => existsSync(join(folder, path)))
    expect(named.filter((path) => !isThere(path) && !path.includes('NAME'))).toEqual([])
  })
})

/** What SECURITY.md says the service does, each with a test that fails when it does not. */
const held: Readonly<Record<string, readonly [file: string, title: string]>> = {
  'Tokens are not stored': ['keys/once.pg.test.ts', 'no row holds a token'],
  'Signing secrets are encrypted': ['delivery/secrets.test.ts', 'not to be seen in between'],
  'Deliveries are signed': ['../../sdk/test/receivers.e2e.test.ts', 'nothing that is forged, altered, late'],
  'Webhooks do not reach your network': ['delivery/rebinding.test.ts', 'never leads to loopback'],
  'Content stays in the service': ['architecture.test.ts', 'one place opens connections to receivers'],
  'A delivery contains what its registrant may read': [
    'delivery/payload.pg.test.ts',
    'for those who may read',
  ],
  'Logs contain no tokens, bodies or queries.': ['http/logs.pg.test.ts', 'never holds tokens, bodies'],
  'Unauthenticated clients are limited': ['http/unauthenticated.test.ts', 'beyond the limit of a network'],
  'Organizations are isolated.': [
    'http/crossing.pg.test.ts',
    'an id of theirs or of nobody in an address is 404',
  ],
  'Scopes are read at each request.': [
    'http/scopes.pg.test.ts',
    'learns nothing of what that opens, by any route',
  ],
  'Responses are not cached': ['http/headers.pg.test.ts', 'a token or a secret is kept by nobody'],
  'Closed by default': ['config.test.ts', "host: { default: '127.0.0.1'"],
  'Input is validated first.': ['http/bounds.pg.test.ts', 'given twice is refused on every list'],
  'No organization stalls the others': ['db/fair-pool.pg.test.ts', 'refused for its organization'],
  'Deleted data': ['retention/erasure.pg.test.ts', 'a day after its deletion'],
  'No install scripts': ['docs/deploy.test.ts', 'no install script of a package runs'],
}

test('each sentence of SECURITY.md about the service has a test that holds it', () => {
  const [, promises = ''] = /## What the service does\n(.*?)\n## /s.exec(textOf('SECURITY.md')) ?? []
  const sentences = [...promises.matchAll(/^- \*\*(.*?)\*\*/gm)].map(([, sentence]) => sentence)
  expect(Object.keys(held)).toEqual(sentences)
  for (const [file, title] of Object.values(held))
    expect(textOf(join('packages/service/test', file))).toContain(title)
})
