/** Every way in which no answer arrives, against real sockets: each is told apart by name, host and remedy. */
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createAuthority } from '../../testbed/certificates.ts'
import { freePort, type Listening, listening, startHttpServer } from '../../testbed/loopback.ts'
import { createClient } from '../src/index.ts'
import { whyUnanswered } from '../src/unanswered.ts'
import * as page from '../src/unanswered-page.ts'

const apiKey = 'dwk_0123456789ABCDEFGHIJKLMNOPQRST3bhm22'

/** Listens while the test lasts. */
const portOf = async (started: Promise<Listening>): Promise<number> => {
  const server = await started
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server.port
}

const detailOf = async (baseUrl: string, timeoutMs = 5_000): Promise<string> => {
  const client = createClient({ baseUrl, apiKey, retries: 0, timeoutMs })
  const error = await client.customers
    .list()
    .page()
    .catch((failed) => failed)
  expect(error).toMatchObject({ name: 'ConnectionFailedError', code: 'connection_failed', status: 0 })
  expect(error.cause).toBeInstanceOf(Error)
  return error.detail
}

const tls = () =>
  portOf(startHttpServer((_, response) => response.end('{}'), createAuthority().issue(['127.0.0.1'])))

test('a name that does not resolve', async () => {
  expect(await detailOf('http://desk.invalid:8080/v1')).toMatch(
    /^The name desk\.invalid (?:does not resolve|could not be looked up) \(E/,
  )
})

test('a port at which nothing listens', async () => {
  const port = await freePort()
  expect(await detailOf(`http://127.0.0.1:${port}/v1`)).toBe(
    `Nothing listens at 127.0.0.1:${port}, to reach 127.0.0.1:${port} (ECONNREFUSED). Check that it runs, and its address and port.`,
  )
})

test('a port that fetch refuses', async () => {
  expect(await detailOf('http://127.0.0.1:6000/v1')).toBe(
    'fetch and browsers refuse to connect to port 6000, whatever listens there. Let the service listen at another port (DESKWIRE_PORT).',
  )
})

test('a certificate that is not trusted', async () => {
  const port = await tls()
  expect(await detailOf(`https://127.0.0.1:${port}/v1`)).toMatch(
    new RegExp(
      `^The certificate of 127\\.0\\.0\\.1:${port} is not accepted: .* NODE_EXTRA_CA_CERTS and start again\\.$`,
    ),
  )
})

test('TLS where plain HTTP is spoken, and the reverse', async () => {
  const plain = await portOf(startHttpServer((_, response) => response.end('{}')))
  expect(await detailOf(`https://127.0.0.1:${plain}/v1`)).toBe(
    `127.0.0.1:${plain} does not speak TLS at this port (ERR_SSL_WRONG_VERSION_NUMBER). Write http://, or the port where it does.`,
  )
  const secure = await tls()
  expect(await detailOf(`http://127.0.0.1:${secure}/v1`)).toMatch(
    / closed the connection before a complete answer .* If it speaks TLS at this port, write https:\/\/\./,
  )
})

test('a server of something else', async () => {
  const port = await portOf(listening(createServer((socket) => socket.end('220 mail.example ESMTP\r\n'))))
  expect(await detailOf(`http://127.0.0.1:${port}/v1`)).toMatch(/does not speak HTTP\. Check the port/)
})

test('a server that says nothing', async () => {
  const port = await portOf(listening(createServer()))
  expect(await detailOf(`http://127.0.0.1:${port}/v1`, 100)).toBe(
    `No complete answer from 127.0.0.1:${port}: No complete answer within 100 ms.`,
  )
})

test('a page of something else, which is named', async () => {
  const port = await portOf(
    startHttpServer((_, response) => response.writeHead(404).end('<html>Not found</html>')),
  )
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey, retries: 0 })
  await expect(client.customers.list().page()).rejects.toMatchObject({
    code: 'unexpected_answer',
    detail: `http://127.0.0.1:${port}/v1/customers did not answer as Deskwire does. Check the base address and proxies. The answer begins: <html>Not found</html>`,
  })
})

test('the file for browsers says of their failures what the other one says', () => {
  const failures = [
    new TypeError('Failed to fetch'), // Chromium
    new TypeError('NetworkError when attempting to fetch resource.'), // Firefox
    new DOMException('No complete answer within 100 ms.', 'TimeoutError'),
  ]
  for (const failure of failures) {
    const said = page.whyUnanswered(failure, 'https://desk.example/v1/tickets')
    expect(said).toBe(whyUnanswered(failure, 'https://desk.example/v1/tickets'))
    expect(said).toMatch(/^No complete answer .*desk\.example/)
    expect(page.wasNotSent(failure)).toBe(false)
  }
})
