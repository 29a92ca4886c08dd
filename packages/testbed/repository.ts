/** The files of this repository, for tests of documents. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '../..')

const notOurs = new Set(['node_modules', 'assets', 'dist', 'data', '.git'])

/** Paths from the root of files with one of these endings. */
export function filesEndingIn(endings: readonly string[], directory = root): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) return notOurs.has(entry.name) ? [] : filesEndingIn(endings, path)
    return endings.some((ending) => entry.name.endsWith(ending)) ? [relative(root, path)] : []
  })
}

export function textOf(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

/** Markdown without its fenced blocks. */
export function withoutBlocks(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, '')
}

/** The links of a Markdown text outside of code. */
export function linksOf(text: string): { readonly shown: string; readonly target: string }[] {
  const prose = withoutBlocks(text).replace(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\[([^\]]*)\]\(([^)\s]+)\)/g)].map(([, shown = '', target = '']) => ({
    shown: shown.replace(/\s+/g, ' '),
    target,
  }))
}

export function headingsOf(text: string): string[] {
  return [...withoutBlocks(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading)
}

/** As GitHub makes it. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}
