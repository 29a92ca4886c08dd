/** What the Markdown files point at is there: links, headings, and the files of this repository that they name. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { anchorOf, filesEndingIn, headingsOf, linksOf, root, textOf } from './repository.ts'

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

test('a document is no longer than its reader has patience', () => {
  const most = (file: string) => {
    if (/^docs\/decisions\/\d/.test(file)) return 500
    return { 'ARCHITECTURE.md': 2_000, 'CONTRIBUTING.md': 1_000, 'bench/README.md': 700 }[file] ?? Infinity
  }
  const words = (file: string) =>
    textOf(file)
      .split(/\s+/)
      .filter((word) => word !== '').length
  expect(files.filter((file) => words(file) > most(file))).toEqual([])
  const [terms = ''] = textOf('docs/glossary.md').split('\n## Names')
  expect(terms.match(/^\| (?!term |---).*$/gm)?.length).toBeLessThanOrEqual(40)
})

describe.each(files)('%s', (file) => {
  const text = textOf(file)

  test('links to what is there', () => {
    expect(deadLinks(file, text)).toEqual([])
  })

  test('names files that are there', () => {
    const named = [...text.matchAll(/`((?:packages|tools|checks|docs|bench)\/[\w./-]+)`/g)].map(
      ([, path = '']) => path,
    )
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })
})
