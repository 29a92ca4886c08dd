/** A command whose service cannot be reached says in one line why, and what to do. */
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDataDir } from '../../testbed/installation.ts'
import { forward, freePort, listening, startHttpServer } from '../../testbed/loopback.ts'
import { deskwire } from '../../testbed/services.ts'
import { sharedService } from '../../testbed/shared-service.ts'
import { createAuthority, type Validity } from '../src/listen/certificates.ts'
import { runHere } from './run-here.ts'

const shared = sharedService()

const authority = createAuthority()

/** The port of the shared service behind TLS, under a certificate of this name, while the test lasts. */
async function behindTls(name: string, validity?: Validity): Promise<number> {
  const server = await startHttpServer(
    async (request, response) => {
      const { status, type, text } = await forward(request, shared().url)
      response.writeHead(status, { 'content-type': type }).end(text)
    },
    authority.issue([name], validity),
  )
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server.port
}

/** What the command prints on standard error, with exit code 1 unless it succeeded. */
async function said(url: string, settings: Record<string, string> = {}, run = deskwire): Promise<string> {
  const { token } = shared().api
  const none = { https_proxy: '', http_proxy: '', HTTPS_PROXY: '', HTTP_PROXY: '', NODE_USE_ENV_PROXY: '' }
  const words = ['export', 'customers', '--url', url, '--key', token]
  const { code, stderr } = await run(words, { settings: { ...none, ...settings } })
  expect(stderr.split('\n').length).toBeLessThanOrEqual(2)
  expect(code).toBe(stderr === '' ? 0 : 1)
  return stderr
}

test('a base URL with and without /v1 and a slash reaches the service; one with another path is told the right one', async () => {
  const { url } = shared()
  const here = (at: string) => said(at, {}, runHere)
  for (const path of ['', '/', '/v1', '/v1/']) expect(await here(url + path)).toBe('')
  for (const path of ['/api/v1', '/v2', '/console/v1']) {
    expect(await here(url + path)).toBe(
      `deskwire: 404 not_found: There is no ${path}/customers/export. Did you mean /v1/customers/export?\n`,
    )
  }
})

test('a port that fetch refuses is named', async () => {
  expect(await said('http://127.0.0.1:6000', {}, runHere)).toMatch(
    /^deskwire: fetch and browsers refuse to connect to port 6000, .* \(DESKWIRE_PORT\)\.\n$/,
  )
})

test('certificates that are unknown, expired or of another name are told apart, and an authority can be named', async () => {
  await using directory = await temporaryDataDir()
  const file = join(directory.parent, 'ca.pem')
  await writeFile(file, authority.ca)
  const trusting = { NODE_EXTRA_CA_CERTS: file }
  const good = await behindTls('127.0.0.1')
  expect(await said(`https://127.0.0.1:${good}`, trusting)).toBe('')
  if (process.platform === 'linux')
    expect(await said(`https://127.0.0.1:${good}`, { SSL_CERT_FILE: file })).toBe('')
  expect(await said(`https://127.0.0.1:${good}`)).toMatch(
    new RegExp(
      `^deskwire: The certificate of 127\\.0\\.0\\.1:${good} is not accepted: .* NODE_EXTRA_CA_CERTS and start again\\.\n$`,
    ),
  )
  const other = await behindTls('other.example')
  expect(await said(`https://127.0.0.1:${other}`, trusting)).toMatch(
    /^deskwire: The certificate of .* is for DNS:other\.example \(ERR_TLS_CERT_ALTNAME_INVALID\)\. Use such a name/,
  )
  const day = 24 * 60 * 60 * 1000
  const past = { notBefore: new Date(Date.now() - 3 * day), notAfter: new Date(Date.now() - 2 * day) }
  const expired = await behindTls('127.0.0.1', past)
  expect(await said(`https://127.0.0.1:${expired}`, trusting)).toMatch(
    /is not accepted: .*expired.*\(CERT_HAS_EXPIRED\)\. Renew it, or check the clock/,
  )
})

test('a proxy that is set and not used, does not run, or refuses is named', async () => {
  const port = await freePort()
  const proxy = `http://127.0.0.1:${port}`
  expect(await said('http://desk.invalid', { http_proxy: proxy })).toMatch(
    /^deskwire: The name desk\.invalid .* http_proxy is set and was not used: with NODE_USE_ENV_PROXY=1 /,
  )
  const using = { NODE_USE_ENV_PROXY: '1', http_proxy: proxy, https_proxy: proxy, no_proxy: '' }
  expect(await said('http://desk.invalid', using)).toBe(
    `deskwire: Nothing listens at 127.0.0.1:${port}, of a proxy, to reach desk.invalid (ECONNREFUSED). Check that it runs, and its address and port.\n`,
  )
  await using refusing = await listening(
    createServer((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')),
    ),
  )
  const through = { ...using, https_proxy: `http://127.0.0.1:${refusing.port}` }
  expect(await said('https://desk.invalid', through)).toMatch(
    /^deskwire: The proxy did not connect to desk\.invalid: .*407/,
  )
})
