/**
 * Every ink can be read on every ground that it stands on, in light and dark: WCAG 2.2, 1.4.3 and 1.4.11, level AA. Labels
 * and toasts have the form of docs/style.md.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const css = readFileSync(new URL('../src/design/tokens.css', import.meta.url), 'utf8')
const colours = new Map(
  [...css.matchAll(/--([\w-]+): light-dark\(#(\w{6}), #(\w{6})\);/g)].map(([, name, light, dark]) => [
    name as string,
    { light: light as string, dark: dark as string },
  ]),
)

const grounds = ['paper', 'surface', 'raised', 'sunken', 'hover']
const pairs: readonly (readonly [ink: string, ground: string, least: number])[] = [
  ...['ink', 'ink-soft', 'ink-faint', 'accent', 'accent-strong', 'good', 'wait', 'bad'].flatMap((ink) =>
    grounds.map((ground) => [ink, ground, 4.5] as const),
  ),
  ['accent', 'accent-soft', 4.5],
  ['accent-strong', 'accent-soft', 4.5],
  ['ink', 'accent-soft', 4.5],
  ['good', 'good-soft', 4.5],
  ['wait', 'wait-soft', 4.5],
  ['bad', 'bad-soft', 4.5],
  ['on-accent', 'accent', 4.5],
  ['on-accent', 'accent-strong', 4.5],
  ['on-bad', 'bad-fill', 4.5],
  ['edge', 'surface', 3],
  ['edge', 'raised', 3],
  ...[...colours.keys()]
    .filter((name) => name.startsWith('chart-'))
    .map((name) => [name, 'surface', 3] as const),
]

test.each(pairs)('%s on %s has a contrast of %d', (ink, ground, least) => {
  const [front, back] = [colours.get(ink), colours.get(ground)]
  expect(front && back).toBeDefined()
  for (const scheme of ['light', 'dark'] as const) {
    expect(contrast(front?.[scheme] ?? '', back?.[scheme] ?? ''), scheme).toBeGreaterThanOrEqual(least)
  }
})

function contrast(one: string, other: string): number {
  const [dim = 0, bright = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (bright + 0.05) / (dim + 0.05)
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const source = fileURLToPath(new URL('../src', import.meta.url))
const sources = globSync('**/*.{ts,tsx}', { cwd: source }).map(
  (path) => [path, readFileSync(join(source, path), 'utf8')] as const,
)
const named = /\b(?:title|label|caption|verb)(?:=|: )["'`]([^"'`]+)/g
const toast = /\bsay\((?:[^'"`()]*\? )?['"`]([^'"`]+)/g

test('labels begin with a capital letter, and end without a full stop', () => {
  const labels = sources.flatMap(([path, text]) =>
    [...text.matchAll(named)].map(([, words]) => `${path}: ${words}`),
  )
  expect(labels.length).toBeGreaterThan(200)
  expect(labels.filter((label) => /: [a-z]|[^.]\.$/.test(label.replace(/^.*?: /, ': ')))).toEqual([])
})

test('toasts say what was done, in a past participle and without a full stop', () => {
  const toasts = sources.flatMap(([, text]) => [...text.matchAll(toast)].map(([, words]) => words as string))
  expect(toasts.length).toBeGreaterThan(8)
  expect(toasts.filter((words) => !/(?:ed|resent)\b/.test(words) || words.endsWith('.'))).toEqual([])
})
