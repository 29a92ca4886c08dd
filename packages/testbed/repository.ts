/** The files of this repository as their readers see them, for the tests of what they point at. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '../..')

const notOurs = new Set(['node_modules', 'assets', 'dist', 'data', '.git'])

/** Paths, relative to the root, of all files below a directory whose names end in one of these. */
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

/** A Markdown text without its fenced blocks. */
export function withoutBlocks(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, '')
}

/** The links of a Markdown text, those within code left out. */
export function linksOf(text: string): { readonly shown: string; readonly target: string }[] {
  const prose = withoutBlocks(text).replace(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\[([^\]]*)\]\(([^)\s]+)\)/g)].map(([, shown = '', target = '']) => ({
    shown: shown.replace(/\s+/g, ' '),
    target,
  }))
}

/** The headings of a Markdown text. */
export function headingsOf(text: string): string[] {
  return [...withoutBlocks(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading)
}

/** A heading's anchor, as GitHub makes it. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}
