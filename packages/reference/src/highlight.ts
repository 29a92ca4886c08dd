/** Highlights strings, comments, numbers and keywords, in the languages that the pages show. */
import { type Html, html } from './page.ts'

interface Grammar {
  readonly comment: string
  readonly keywords: string
}

const dashes = '--[^\\n]*'
const hash = '(?<![^\\s])#[^\\n]*'
const slashes = '(?<!:)//[^\\n]*|/\\*[\\s\\S]*?\\*/'

const script: Grammar = {
  comment: slashes,
  keywords:
    'as async await break case catch class const continue default else export extends false finally for from function if import in instanceof interface let new null of return switch throw true try type typeof undefined while yield',
}
const shell: Grammar = { comment: hash, keywords: 'curl do done else export fi for if in npm npx then while' }
const yaml: Grammar = { comment: hash, keywords: 'true false null' }

const grammars: Readonly<Record<string, Grammar>> = {
  ts: script,
  typescript: script,
  js: script,
  javascript: script,
  python: {
    comment: hash,
    keywords:
      'and as async await break class continue def del elif else except False finally for from if import in is lambda None not or pass raise return True try while with yield',
  },
  go: {
    comment: slashes,
    keywords:
      'break case chan const continue default defer else for func go if import interface map nil package range return select struct switch type var true false',
  },
  sh: shell,
  bash: shell,
  shell,
  curl: shell,
  sql: {
    comment: dashes,
    keywords:
      'and as by count create delete distinct from group having in index insert into is join key left limit not null on or order primary select set sum table update values where with',
  },
  json: { comment: '(?!)', keywords: 'true false null' },
  yaml,
  yml: yaml,
}

const strings = '"(?:\\\\.|[^"\\\\\\n])*"|\'(?:\\\\.|[^\'\\\\])*?\'|`(?:\\\\.|[^`\\\\])*`'

/** Member names stay plain. */
const jsonName = '(?<p>"(?:\\\\.|[^"\\\\])*"(?=:))|'

const patterns = new Map<string, RegExp>()

function patternOf(language: string, { comment, keywords }: Grammar): RegExp {
  const words = `\\b(?:${keywords.split(' ').join('|')})\\b`
  const flags = language === 'sql' ? 'gi' : 'g'
  const found =
    patterns.get(language) ??
    new RegExp(
      `${language === 'json' ? jsonName : ''}(?<c>${comment})|(?<s>${strings})|(?<n>\\b\\d[\\w.]*\\b)|(?<k>${words})`,
      flags,
    )
  patterns.set(language, found)
  return found
}

/** Unchanged for an unknown language. */
function highlighted(code: string, language: string): Html {
  const grammar = grammars[language]
  if (grammar === undefined) return html`${code}`
  const parts: unknown[] = []
  let from = 0
  for (const { 0: text, groups = {}, index } of code.matchAll(patternOf(language, grammar))) {
    parts.push(code.slice(from, index), html`<span class="${classOf(groups)}">${text}</span>`)
    from = index + text.length
  }
  return html`${[...parts, code.slice(from)]}`
}

function classOf(groups: Readonly<Record<string, string | undefined>>): string {
  return Object.keys(groups).find((name) => groups[name] !== undefined) ?? ''
}

/** A block of code; its name is read by screen readers. */
export function codeBlock(code: string, language: string, name: string): Html {
  return html`<pre tabindex="0" aria-label="${name}"><code>${highlighted(code, language)}</code></pre>`
}
