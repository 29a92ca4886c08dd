/** The texts that the prose check reads: documents, command help, the error catalogue, strings of the console, and problem details. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import { commands } from '../../packages/cli/src/commands.ts'
import { errorCatalogue } from '../../packages/service/src/kernel/error-catalogue.ts'
import type { Text } from './lint.ts'

const root = resolve(import.meta.dirname, '../..')
const notOurs = new Set(['node_modules', 'assets', 'dist', 'data', 'release', 'generated', '.git'])

export async function allTexts(): Promise<Text[]> {
  return [
    ...documents(),
    ...(await helps()),
    ...textsOfErrors(errorCatalogue),
    ...consoleStrings(),
    ...details(),
  ]
}

/** Every Markdown file. docs/reference is generated, but its sentences come from declarations that nothing else checks. */
function documents(): Text[] {
  return filesEndingIn('.md', root).map((path) => ({
    where: relative(root, path),
    markdown: readFileSync(path, 'utf8'),
  }))
}

async function helps(): Promise<Text[]> {
  return await Promise.all(
    commands.map(async ({ name, summary, load }) => ({
      where: `deskwire ${name} --help`,
      markdown: `${summary}\n\n${paragraphsOfHelp((await load()).help())}`,
    })),
  )
}

/** A flag with its continuation is a paragraph, an exit code a sentence; examples are no prose. */
export function paragraphsOfHelp(help: string): string {
  const [prose = ''] = help.split('\nExamples:')
  return prose
    .split('\n')
    .map((line) => line.replace(/^ {20,}/, '').replace(/^ +-.*?(?: {2,}|$)|^ {2,}/, '\n'))
    .join('\n')
    .replace(/;\s+(?=\d+ (?:when|for)\b)/g, '. ')
    .replace(/[*_<>#[\]]/g, '\\$&')
}

type Described = Readonly<Record<'title' | 'means' | 'help' | 'example', string>>

export function textsOfErrors(catalogue: Readonly<Record<string, Described>>): Text[] {
  return Object.entries(catalogue).map(([code, { title, means, help, example }]) => ({
    where: `error ${code}`,
    markdown: [title, means, help, example].join('\n\n'),
  }))
}

function consoleStrings(): Text[] {
  const src = join(root, 'packages/console/src')
  return [...filesEndingIn('.tsx', src), ...filesEndingIn('.ts', src)].flatMap((path) => stringsIn(path))
}

/** Sentences of the code of the service and its tools: details of problems, descriptions of fields, reasons in the log. */
function details(): Text[] {
  const paths = ['service', 'mcp'].flatMap((name) =>
    filesEndingIn('.ts', join(root, 'packages', name, 'src')),
  )
  return paths.flatMap((path) => stringsIn(path, isSentence))
}

/** Begins with a capital letter or ends with a full stop. SQL does neither, apart from its comments. */
export function isSentence(text: string): boolean {
  return /^\p{Lu}|(?<!…)\.$/u.test(text) && !/(?:^| )-- /.test(text)
}

function stringsIn(path: string, isWanted: (text: string) => boolean = () => true): Text[] {
  const found = stringsOf(readFileSync(path, 'utf8'), path.endsWith('x') ? 'tsx' : 'ts')
  return found
    .filter(({ text }) => isWanted(text))
    .map(({ line, text }) => ({
      where: `${relative(root, path)}:${line}`,
      markdown: text.replace(/[*_<>#[\]]/g, '\\$&'),
    }))
}

interface Node {
  readonly type: string
  readonly start: number
  readonly [name: string]: unknown
}

/** Strings of at least two words in a source: the text of elements, and literals that are not class names. */
export function stringsOf(source: string, lang: 'ts' | 'tsx' = 'tsx'): { line: number; text: string }[] {
  const found: { line: number; text: string }[] = []
  const add = (node: Node, text: string) => {
    const shown = text.replace(/\s+/g, ' ').trim()
    if (/\p{L} .*\p{L}/u.test(shown))
      found.push({ line: source.slice(0, node.start).split('\n').length, text: shown })
  }
  const visit = (value: unknown) => {
    if (Array.isArray(value)) value.forEach(visit)
    if (!isNode(value)) return
    if (value.type === 'ImportDeclaration') return
    if (value.type === 'JSXAttribute' && (value.name as Node).name === 'className') return
    if (value.type === 'Literal' && typeof value.value === 'string') add(value, value.value)
    if (value.type === 'TemplateLiteral') {
      const quasis = value.quasis as { value: { cooked: string } }[]
      add(value, quasis.map((quasi) => quasi.value.cooked).join('…'))
    }
    if (value.type === 'JSXElement' || value.type === 'JSXFragment') {
      const children = value.children as Node[]
      add(value, children.map((child) => (child.type === 'JSXText' ? String(child.value) : '…')).join(''))
    }
    Object.values(value).forEach(visit)
  }
  visit(parseAst(source, { lang }))
  return found
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value
}

function filesEndingIn(ending: string, directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) return notOurs.has(entry.name) ? [] : filesEndingIn(ending, path)
    return entry.name.endsWith(ending) ? [path] : []
  })
}
