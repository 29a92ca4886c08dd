/** What all clients do alike, `conformance/clients.json`: the command line reads addresses as the SDK does, and calls through it. */
import { expect, test } from 'vitest'
import clients from '../../../conformance/clients.json' with { type: 'json' }
import { startHttpServer } from '../../testbed/loopback.ts'
import { baseUrlOf } from '../src/client.ts'
import { UsageError } from '../src/usage-error.ts'
import { runHere } from './run-here.ts'

test.each(clients.addresses.accepted)('%j is the base address %s', (given, base) => {
  expect(baseUrlOf(given as string)).toBe(base)
})

test.each(clients.addresses.refused)('%j is no base address', (given) => {
  expect(() => baseUrlOf(given)).toThrow(UsageError)
})

test('a key with spaces within is a usage error', async () => {
  for (const key of clients.keys.refused) {
    const { code, stdout } = await runHere(['api', '/x', '--url', 'http://127.0.0.1:2', '--key', key])
    expect({ key, code, stdout }).toEqual({ key, code: 2, stdout: '' })
  }
})

test('a failure is one line with its status and code', async () => {
  for (const { status, code } of clients.families.filter(
    ({ status }) => ![408, 429].includes(status) && status < 500,
  )) {
    await using server = await startHttpServer((_, answer) => {
      answer.writeHead(status, { 'content-type': 'application/problem+json' })
      answer.end(code === null ? '<html></html>' : JSON.stringify({ code, detail: 'Why.', status }))
    })
    const { code: exit, stderr } = await runHere(['api', '/x', '--url', server.url, '--key', 'dwk_x'])
    expect(exit).toBe(1)
    expect(stderr).toMatch(new RegExp(`^deskwire: ${status} ${code ?? 'unexpected_answer'}: .*\\n$`))
  }
})
