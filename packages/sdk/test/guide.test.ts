/** What the guide for receivers shows, run as it is shown: its blocks are one program, the handler and the test of it. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const guide = readFileSync(new URL('../../../docs/guides/receiving.md', import.meta.url), 'utf8')
const blocks = [...guide.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block)

const run = (input: string) =>
  spawnSync(process.execPath, ['--input-type=module-typescript'], {
    input,
    // From here the packages are found by their names.
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    encoding: 'utf8',
    timeout: 30_000,
  })

test('the handler accepts the test delivery', () => {
  expect(blocks).toHaveLength(2)
  expect(run(blocks.join('\n'))).toMatchObject({ status: 0, stdout: 'Hello\n', stderr: '' })
})

test('and refuses one that is signed with another secret, or late', () => {
  const program = blocks.join('\n')
  for (const altered of [
    program.replace('delivery), secret)', "delivery), 'whsec_another')"),
    program.replace("'Hello' } }, secret)", "'Hello' } }, secret, { timestamp: 1 })"),
  ]) {
    expect(altered).not.toBe(program)
    expect(run(altered)).toMatchObject({ status: 1, stdout: '' })
  }
})
