/** What keeps the SDK small and at home in browsers, as rules that can fail. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = new URL('../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')

/** The code without its comments, which may speak of anything. */
const codeOf = (file: string) => read(`src/${file}`).replace(/\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/.*$/gm, '')

const files = readdirSync(new URL('src/', root), { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
)

test('there are files to check', () => {
  expect(files).toContain('index.ts')
})

describe.each(files)('src/%s', (file) => {
  const code = codeOf(file)

  test('imports nothing but its neighbours', () => {
    const imported = [...code.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*(['"`])(.*?)\1/g)].map(
      (match) => match[2],
    )
    for (const specifier of imported) expect(specifier).toMatch(/^(\.\/[\w/.-]+\.ts|#unanswered)$/)
    expect(code).not.toMatch(/\brequire\s*\(|['"`]node:/)
  })

  test('uses no global that only Node has', () => {
    // This one file asks whether there is a process.
    const node = file === 'environment.ts' ? code.replaceAll(/\bprocess\b/g, '') : code
    expect(node).not.toMatch(/\b(Buffer|process|global|setImmediate|__dirname|__filename)\b/)
    expect(code).not.toMatch(/import\.meta\.(dirname|filename)/)
  })

  test('stays small, and knows what everything is', () => {
    // What is generated grows with the kinds.
    if (file !== 'generated.ts') expect(code.split('\n').length).toBeLessThan(200)
    expect(code).not.toMatch(/\bany\b|@ts-/)
  })
})

test('the package depends on nothing', () => {
  const manifest: Record<string, unknown> = JSON.parse(read('package.json'))
  for (const name of ['dependencies', 'peerDependencies', 'optionalDependencies']) {
    expect(manifest).not.toHaveProperty(name)
  }
})

test('it compiles against a browser with no type of Node in reach', () => {
  const compiler = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', root))
  const project = fileURLToPath(new URL('tsconfig.browser.json', root))
  const compile = () => execFileSync(process.execPath, [compiler, '-p', project], { encoding: 'utf8' })
  expect(compile).not.toThrow()
})
