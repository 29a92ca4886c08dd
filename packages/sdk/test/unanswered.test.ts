/** Every way in which no answer arrives, against real sockets: each is told apart by name, host and remedy. */
import { createServer as createHttp, type Server as HttpServer } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { type AddressInfo, createServer as createTcp, type Server } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createAuthority } from '../../cli/src/listen/certificates.ts'
import { createClient } from '../src/index.ts'

const apiKey = 'dwk_0123456789ABCDEFGHIJKLMNOPQRST3bhm22'

const portOf = async (server: Server | HttpServer): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

const detailOf = async (baseUrl: string, timeoutMs = 5_000): Promise<string> => {
  const client = createClient({ baseUrl, apiKey, retries: 0, timeoutMs })
  const error = await client.customers.list().catch((failed) => failed)
  expect(error).toMatchObject({ name: 'DeskwireError', code: 'connection_failed', status: 0 })
  expect(error.cause).toBeInstanceOf(Error)
  return error.detail
}

const tls = () => {
  const { key, cert } = createAuthority().issue(['127.0.0.1'])
  return portOf(createHttps({ key, cert }, (_, response) => response.end('{}')))
}

test('a name that does not resolve', async () => {
  expect(await detailOf('http://desk.invalid:8080/v1')).toMatch(
    /^The name desk\.invalid (?:does not resolve|could not be looked up) \(E/,
  )
})

test('a port at which nothing listens', async () => {
  const server = createTcp()
  const port = await portOf(server)
  await new Promise((resolve) => server.close(resolve))
  expect(await detailOf(`http://127.0.0.1:${port}/v1`)).toBe(
    `Nothing listens at 127.0.0.1:${port}, to reach 127.0.0.1:${port} (ECONNREFUSED). Check that it runs, and its address and port.`,
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
  const plain = await portOf(createHttp((_, response) => response.end('{}')))
  expect(await detailOf(`https://127.0.0.1:${plain}/v1`)).toBe(
    `127.0.0.1:${plain} does not speak TLS at this port (ERR_SSL_WRONG_VERSION_NUMBER). Write http://, or the port where it does.`,
  )
  const secure = await tls()
  expect(await detailOf(`http://127.0.0.1:${secure}/v1`)).toMatch(
    / closed the connection before a complete answer .* If it speaks TLS at this port, write https:\/\/\./,
  )
})

test('a server of something else', async () => {
  const port = await portOf(createTcp((socket) => socket.end('220 mail.example ESMTP\r\n')))
  expect(await detailOf(`http://127.0.0.1:${port}/v1`)).toMatch(/does not speak HTTP\. Check the port/)
})

test('a server that says nothing', async () => {
  const sockets = new Set<{ destroy(): void }>()
  const port = await portOf(createTcp((socket) => void sockets.add(socket)))
  expect(await detailOf(`http://127.0.0.1:${port}/v1`, 100)).toBe(
    `No complete answer from 127.0.0.1:${port}: No complete answer within 100 ms.`,
  )
  for (const socket of sockets) socket.destroy()
})

test('a page of something else, which is named', async () => {
  const port = await portOf(
    createHttp((_, response) => response.writeHead(404).end('<html>Not found</html>')),
  )
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey, retries: 0 })
  await expect(client.customers.list()).rejects.toMatchObject({
    code: 'unexpected_answer',
    detail: `http://127.0.0.1:${port}/v1/customers did not answer as Deskwire does. Check the base address, which ends in /v1, and proxies. The answer begins: <html>Not found</html>`,
  })
})
