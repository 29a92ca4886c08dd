/** The page of methods shows signatures: each is one that the compiler finds in the SDK. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { root, textOf } from '../../testbed/repository.ts'

const page = textOf('docs/reference/methods.md')

test('each method of the page has a section with its signatures in both languages', () => {
  const listed = [...page.matchAll(/^\| \[`(?:client|admin)\.([\w.]+)`\]/gm)].map(([, name]) => name)
  expect(listed.length).toBeGreaterThan(100)
  const sections = page.split(/^### /m).slice(1)
  expect(sections.map((text) => text.split('\n')[0])).toEqual(listed)
  const described = /^[\w.]+\n\n\S.*\n\n```ts\n.*\n```\n\n```python\n.*\n```\n/
  expect(sections.filter((text) => !described.test(text))).toEqual([])
})

test('each signature in TypeScript is that of the method', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'deskwire-signatures-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const shown = [...page.matchAll(/^```ts\n((?:client|admin)\.[\w.]+)(\(.*\)): (.*)\n```$/gm)]
  expect(shown.length).toBeGreaterThan(100)
  const types = shown.map(([, , given, result]) => `${given} ${result}`.replace(/'[^']*'/g, '')).join()
  const names = [...new Set(types.match(/\b[A-Z]\w+/g))].filter(
    (name) => !/^(AsyncGenerator|Record)$/.test(name),
  )
  const lines = shown.map(
    ([, method, given, result], n) => `const f${n}: ${given} => ${result} = ${method}\n`,
  )
  const program = `import { createAdminClient, createClient, type ${names.join(', type ')} } from '@deskwire/sdk'
const client = createClient()
const admin = createAdminClient()
export const all = [${lines.map((_, n) => `() => f${n}`)}]
${lines.join('')}`
  const compilerOptions = {
    paths: { '@deskwire/sdk': [join(root, 'packages/sdk/src/index.ts')] },
    typeRoots: [join(root, 'node_modules/@types')],
  }
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
  const file = join(directory, 'signatures.ts')
  const config = join(directory, 'tsconfig.json')
  writeFileSync(
    config,
    JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, files: [file], include: [] }),
  )
  const compiled = async (text: string) => {
    writeFileSync(file, text)
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    return promisify(execFile)(process.execPath, [compiler, '-p', config]).catch((error) => error)
  }
  expect((await compiled(program)).stdout).toBe('')
  expect((await compiled(program.replace('CallPromise<Ticket>', 'CallPromise<Customer>'))).stdout).toContain(
    'Ticket',
  )
})
