/** What the Markdown files point at is there: links, headings, and the files of this repository that they name. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from './harness.ts'

const notOurs = new Set(['node_modules', 'dist', 'data', '.git'])

function markdownFiles(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) return notOurs.has(entry.name) ? [] : markdownFiles(path)
    return entry.name.endsWith('.md') ? [relative(root, path)] : []
  })
}

const files = markdownFiles(root)

/** The prose: fenced blocks and inline code hold no links. */
function prose(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '')
}

/** The anchors of a file's headings, as GitHub makes them. */
function anchors(path: string): string[] {
  const text = readFileSync(path, 'utf8').replace(/^```[\s\S]*?^```$/gm, '')
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

test('there are files to look at', () => {
  expect(files).toContain('README.md')
  expect(files).toContain('docs/specification.md')
  expect(files).toContain('packages/sdk/README.md')
})

describe.each(files)('%s', (file) => {
  const text = readFileSync(join(root, file), 'utf8')

  test('links to what is there', () => {
    const links = [...prose(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
    const dead = links.filter((link) => {
      if (/^[a-z]+:/.test(link)) return false
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? join(root, file) : join(root, dirname(file), path)
      return !existsSync(target) || (anchor !== undefined && !anchors(target).includes(anchor))
    })
    expect(dead).toEqual([])
  })

  test('names files that are there', () => {
    const named = [...text.matchAll(/`((?:packages|scripts|docs|bench)\/[\w./-]+)`/g)].map(
      ([, path = '']) => path,
    )
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })
})
