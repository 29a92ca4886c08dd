/** `deskwire signature sign` and `deskwire signature verify`, as a process once. */
import { generateKeyPairSync, sign } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { verify } from '@deskwire/sdk'
import { expect, test } from 'vitest'
import { startHttpServer } from '../../../testbed/loopback.ts'
import { deskwire } from '../../../testbed/services.ts'
import type { Command } from '../../src/command.ts'
import { signCommand } from '../../src/commands/sign.ts'
import { verifySignatureCommand } from '../../src/commands/verify-signature.ts'
import { UsageError } from '../../src/usage-error.ts'
import { fileOf } from '../import/files.ts'
import { runHere } from '../run-here.ts'

const secret = 'whsec_dGhlIHNlY3JldCBvZiB0aGUgdmVjdG9ycywgbi4gMS4='
const older = 'whsec_YW5vdGhlciBzZWNyZXQsIG9mIHRoaXJ0eS10d28gYnl0ZXM='
const body =
  '{"id":"e-1","type":"ticket.created","apiVersion":"v1","createdAt":"2026-01-31T09:30:00.000Z","organizationId":"o-1","data":{}}'

test('what is signed is what the SDK accepts, by both ways, and so does the other command, until the body changes', async () => {
  const file = fileOf(body)
  const settings = { DESKWIRE_WEBHOOK_SECRET: `${secret},${older}` }
  const lines = await deskwire(['signature', 'sign', file, '--signatures', 'service,standard'], { settings })
  const object = await runHere(['signature', 'sign', file, '--signatures', 'service,standard', '--json'], {
    settings,
  })
  expect([lines.code, lines.stderr, object.code]).toEqual([0, '', 0])
  const headers = JSON.parse(object.stdout)
  expect(lines.stdout.match(/^[\w-]+(?=: )/gm)).toEqual(Object.keys(headers))
  expect(headers).toMatchObject({
    'X-Service-Event-Id': 'e-1',
    'X-Service-Event-Type': 'ticket.created',
    'webhook-id': 'e-1',
  })
  for (const one of [secret, older]) {
    for (const scheme of ['service', 'standard'] as const) await verify(body, headers, one, { scheme })
  }

  const headersFile = fileOf(lines.stdout)
  const verified = await runHere(['signature', 'verify', file, '--headers', headersFile, '--secret', older])
  expect(verified).toMatchObject({ code: 0, stderr: '' })
  expect(verified.stdout.match(/^verified$/gm)).toHaveLength(2)
  expect(verified.stdout).toContain('the body says: ticket.created, event e-1\n')
  writeFileSync(file, `${body}\n`)
  const refused = await runHere(['signature', 'verify', file, '--headers', headersFile, '--secret', secret])
  expect(refused).toMatchObject({ code: 3, stderr: '' })
  expect(refused.stdout).toMatch(
    /^BROKEN {2}signature .*\nrefused, signature_mismatch: .*\nlikely: The body ends in a line break/m,
  )
  const signature = ['--signature', headers['X-Service-Signature'], '--at', '1769851800', '--json']
  const early = await runHere(['signature', 'verify', file, ...signature], { settings })
  expect(early.code).toBe(3)
  expect(JSON.parse(early.stdout)).toMatchObject({
    verified: false,
    event: { id: 'e-1', type: 'ticket.created' },
    signatures: [{ scheme: 'service', reason: 'timestamp_in_future', rules: { length: 4 } }],
  })
})

test('the asymmetric signature is verified by the published keys, of a file or an address', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const keys = JSON.stringify({ keys: [publicKey.export({ format: 'jwk' })] })
  const signature = sign(null, Buffer.from(`e-1.1769851800.${body}`), privateKey).toString('base64')
  const headers = fileOf(
    `webhook-id: e-1\nwebhook-timestamp: 1769851800\nwebhook-signature: v1,YWJj v1a,${signature}`,
  )
  await using server = await startHttpServer((request, response) => {
    if (request.url === '/none') response.statusCode = 404
    response.end(keys)
  })
  const run = (jwks: string, of = body, at = '1769851800') =>
    runHere(['signature', 'verify', fileOf(of), '--headers', headers, '--jwks', jwks, '--at', at])
  for (const jwks of [fileOf(keys), `${server.url}/jwks.json`]) {
    const verified = await run(jwks)
    expect(verified).toMatchObject({ code: 0, stderr: '' })
    expect(verified.stdout).toMatch(/^Standard Webhooks, asymmetric\n(.*\n){4}verified\n/)
  }
  const others = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
  for (const [ran, reason] of [
    [await run(fileOf(JSON.stringify({ keys: [others] }))), 'signature_mismatch'],
    [await run(fileOf(keys), `${body} `), 'signature_mismatch'],
    [await run(fileOf(keys), body, '1769852101'), 'timestamp_expired'],
  ] as const) {
    expect(ran).toMatchObject({ code: 3, stdout: expect.stringContaining(`refused, ${reason}`) })
  }
  const { code, stderr } = await run(`${server.url}/none`)
  expect([code, stderr]).toEqual([1, expect.stringContaining('/none answered 404')])
  for (const [set, asked] of [
    ['{"keys":[]}', 'is no JSON Web Key Set with a key'],
    ['{"keys":[{"kty":"RSA"}]}', '--jwks: A public key is not an Ed25519 key'],
  ] as const) {
    const unread = await run(fileOf(set))
    expect([unread.code, unread.stderr]).toEqual([2, expect.stringContaining(asked)])
  }
})

test.each<[Command, string[], string]>([
  [signCommand, [], '--secret is needed, or DESKWIRE_WEBHOOK_SECRET: '],
  [signCommand, ['--secret', secret, '--signatures', 'standard'], '--id is needed'],
  [signCommand, ['--secret', 'whsec_a-b', '--signatures', 'standard', '--id', 'e'], 'standard base64'],
  [
    signCommand,
    ['--secret', secret, '--signatures', 'v1'],
    '"v1" is not accepted; there are service and standard',
  ],
  [
    signCommand,
    ['--secret', secret, '--timestamp', 'now'],
    '"now" is not accepted; it must be whole seconds',
  ],
  [verifySignatureCommand, ['--secret', secret], 'the headers are needed'],
  [verifySignatureCommand, ['--secret', 'whsec_a-b', '--webhook-id', 'e'], 'standard base64'],
])('what is missing is asked for: %#', async (command, words, asked) => {
  const refusal: Error = await command.run([fileOf('no event'), ...words]).then(
    () => expect.unreachable('it was accepted'),
    (error) => error,
  )
  expect(refusal).toBeInstanceOf(UsageError)
  expect(refusal.message).toContain(asked)
})

test('a file that cannot be read is named', async () => {
  const ran = await runHere([
    'signature',
    'verify',
    'gone.json',
    '--secret',
    secret,
    '--signature',
    't=1,v1=a',
  ])
  expect(ran).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^deskwire: .*no such file.*gone\.json'\n$/),
  })
})
