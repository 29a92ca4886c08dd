/**
 * References to rules and to decisions lead somewhere, and have one form: the word `specification` or `decision` and a
 * number, in comments, documents and the schema; and in a document that links to it, the same words as the link's text.
 */
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
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

/** It quotes what it finds. */
const thisFile = 'packages/service/test/docs/references.test.ts'

const specification = textOf('docs/specification.md')

/** The specification's sections, by number. */
const sections = new Map(
  headingsOf(specification).flatMap((heading) => {
    const number = /^(\d+(?:\.\d+)?)\.? /.exec(heading)?.[1]
    return number === undefined ? [] : [[number, anchorOf(heading)] as const]
  }),
)

/** The files of the records, by number. */
const decisions = new Map(
  readdirSync(join(root, 'docs/decisions'))
    .filter((name) => /^\d{4}-/.test(name))
    .map((name) => [String(Number(name.slice(0, 4))), name] as const),
)

/** What a reader of the file reads as prose, each comment and paragraph without its line breaks. */
function proseOf(file: string, text: string): string {
  if (!file.endsWith('.ts')) {
    const linked = withoutBlocks(text).replace(/\]\([^)\s]+\)/g, ']')
    return linked.replace(/\s*\n(?:-- )?\s*/g, ' ')
  }
  const comments = text.match(/\/\*[\s\S]*?\*\/|(?<![:'"`\\])\/\/.*$/gm) ?? []
  return comments.map((comment) => comment.replace(/\s*\n\s*(?:\* ?)?/g, ' ')).join('\n')
}

/** References as they used to be written, and others that say less than where: none resolves. */
const otherForms: readonly RegExp[] = [
  /\b(?:decisions?|specification|interface)(?:,| record| no\.)\s*(?:sections? )?["“\d][^\s)]*/gi,
  /\b(?:decisions|specification|interface), sections? [\d.]+/gi,
  /(?<!RFC \d+, )\bsections? \d+(?:\.\d+)*/gi,
  /\((?:decisions?|specification)\b(?! \d)[^)]{0,40}/gi,
  /\bdecisions? 0\d*|\bdecisions \d+/gi,
  /\bspecification \d[\d.]*(?: and|,| or) \d[\d.]*/gi,
  /\b(?:interface|decisions)\.md\b/g,
]

/** What is wrong with the references of a file with this text: those that resolve to nothing, or have another form. */
function faultsOf(file: string, text: string): string[] {
  const prose = proseOf(file, text)
  const matched = (pattern: RegExp) => [...prose.matchAll(pattern)]
  const unresolved = [
    ...matched(/\bspecification (\d+(?:\.\d+)*)/gi).filter(([, number = '']) => !sections.has(number)),
    ...matched(/\bdecision (\d+)/gi).filter(([, number = '']) => !decisions.has(number)),
  ]
  const others = otherForms.flatMap(matched)
  const paths = file.endsWith('.ts') ? matched(/docs\/decisions\/\S+/g) : []
  return [...[...unresolved, ...others, ...paths].map(([found]) => found), ...mislabelledLinks(file, text)]
}

/** Links of a document to a section or a record whose text is not the reference to that. */
function mislabelledLinks(file: string, text: string): string[] {
  if (!file.endsWith('.md') || file === 'docs/decisions/README.md') return []
  return linksOf(text)
    .filter(({ shown, target }) => {
      const [path = '', anchor] = target.split('#')
      const record = /^(\d{4})-.*\.md$/.exec(basename(path))?.[1]
      if (record !== undefined) return shown !== `decision ${Number(record)}`
      const isSection = basename(path) === 'specification.md' && anchor !== undefined
      const number = /^specification ([\d.]+)$/.exec(shown)?.[1] ?? ''
      return isSection && sections.get(number) !== anchor
    })
    .map(({ shown, target }) => `[${shown}](${target})`)
}

test('sections are numbered without gaps', () => {
  const numbers = [...sections.keys()]
  const chapters = numbers.filter((number) => !number.includes('.'))
  expect(chapters.length).toBeGreaterThan(5)
  expect(numbers).toEqual(
    chapters.flatMap((_, n) => {
      const within = numbers.filter((number) => number.startsWith(`${n + 1}.`))
      return [`${n + 1}`, ...within.map((_, part) => `${n + 1}.${part + 1}`)]
    }),
  )
})

test('the list of decisions has each record once, under its number', () => {
  const links = textOf('docs/decisions/README.md').matchAll(/\[(\d+) [^\]]+\]\(([^)]+)\)/g)
  const listed = [...links].map(([, number = '', file = '']) => [number, file])
  expect(listed.sort()).toEqual([...decisions].sort())
})

describe('a fault is found', () => {
  test.each([
    ['a.ts', '/** What a key may do (decisions, section 3). */'],
    ['a.ts', '/** The body of a delivery (specification, section 2.2). */'],
    ['a.ts', '/**\n * Six digits (decisions,\n * section 3). Only\n */'],
    ['a.ts', '/** A sync (specification, section 4.3; decisions, section 6). */'],
    ['a.ts', '/** The routes (specification, sections 2.4 and 4.1). */'],
    ['a.ts', '/** How it is answered (specification, "Shares"). */'],
    ['a.ts', '/** Shared by endpoints (decision record 9). */'],
    ['a.ts', '/** Ids (decisions: ids are UUIDv7). */'],
    ['a.ts', '// docs/decisions/0002-embedded-postgresql.md says why.'],
    ['a.ts', '/** A section that is not there (specification 99.1). */'],
    ['a.ts', '/**\n * A record that is not there: decision\n * 9999.\n */'],
    ['a.ts', '/** Two in one (specification 7.1 and 7.2). */'],
    ['a.sql', '-- How far it may lead (decision 021).'],
    ['docs/a.md', 'As the interface, section 4.3, says.'],
    ['docs/a.md', 'See [the decision](decisions/0031-large-commits.md).'],
    ['docs/a.md', 'See [decision 30](decisions/0031-large-commits.md).'],
    ['docs/a.md', 'See [the sync](specification.md#7-sync).'],
    ['docs/a.md', 'See [specification 7.1](specification.md#7-sync).'],
  ])('in %s: %s', (file, text) => {
    expect(faultsOf(file, text)).not.toEqual([])
  })

  test.each([
    ['a.ts', '/** What a key may do (specification 3.2), and why: decision 13. */'],
    ['a.ts', '/** No data (RFC 2308, section 2.2), and the decision was made before. */'],
    ['a.ts', "const said = 'decisions, section 3'"],
    [
      'docs/a.md',
      'See [specification 7](specification.md#7-sync) and [decision 31](decisions/0031-large-commits.md).',
    ],
  ])('and none in %s: %s', (file, text) => {
    expect(faultsOf(file, text)).toEqual([])
  })
})

test('every reference in code and documents has the form and resolves', () => {
  const files = filesEndingIn(['.ts', '.md', '.sql', '.py', '.go']).filter((file) => file !== thisFile)
  expect(files.length).toBeGreaterThan(400)
  const faults = files
    .map((file) => [file, faultsOf(file, textOf(file))] as const)
    .filter(([, found]) => found.length > 0)
  expect(Object.fromEntries(faults)).toEqual({})
})
