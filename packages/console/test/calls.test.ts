/** The console is a client as others are: it calls the API by its SDK, and nothing that `openapi.json` does not have. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { textOf } from '../../testbed/repository.ts'

const source = new URL('../src/', import.meta.url)
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) =>
  /\.tsx?$/.test(file),
)
const textOfFile = (file: string) => readFileSync(new URL(file, source), 'utf8')

test('only two files call fetch: for a page that is being left, and to show what a sync sends', () => {
  const calling = files.filter((file) => /\bfetch\(/.test(textOfFile(file).replaceAll('refetch(', '')))
  expect(calling.sort()).toEqual(['screens/sync-explorer/explorer.ts', 'session/link.ts'])
  expect(files.filter((file) => /XMLHttpRequest|EventSource|sendBeacon/.test(textOfFile(file)))).toEqual([])
})

test('each address that is called or shown is in openapi.json', () => {
  const known = Object.keys(JSON.parse(textOf('openapi.json')).paths).join('\n')
  const named = files.flatMap((file) =>
    [...textOfFile(file).matchAll(/(['`])(\/v1\/[^'`?\n]+)\1/g)].map(([, , path = '']) => path),
  )
  expect(named.length).toBeGreaterThan(20)
  // What is put into an address is an id, the name of a kind, or that of an action.
  const isKnown = (path: string) =>
    new RegExp(
      `^${path
        .split(/\$\{[^}]*\}/)
        .map((part) => part.replaceAll('.', '\\.'))
        .join('[^/\n]+')}$`,
      'm',
    ).test(known)
  expect([...new Set(named)].filter((path) => !isKnown(path))).toEqual([])
  expect(isKnown('/v1/customer')).toBe(false)
})
