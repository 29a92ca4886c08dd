/** An OAuth issuer on this machine: its metadata, its keys, and access tokens as a test wants them. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'

export interface OauthIssuer extends AsyncDisposable {
  readonly url: string
  /** Refuses every request while it is true. */
  isDown: boolean
  /** Its documents have 2 MiB while it is true. */
  isLong: boolean
  /** `header`: members in addition to `alg` and `kid`. */
  sign(claims: Record<string, unknown>, header?: Record<string, unknown>): Promise<string>
  /** The same without a signature, `alg` none. */
  unsigned(claims: Record<string, unknown>): string
}

export async function startIssuer(): Promise<OauthIssuer> {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const key = { ...(await exportJWK(publicKey)), kid: 'a', alg: 'ES256', use: 'sig' }
  const server = createServer((request, response) => {
    if (issuer.isDown) {
      response.writeHead(503).end()
      return
    }
    const documents: Readonly<Record<string, unknown>> = {
      '/.well-known/openid-configuration': { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` },
      '/keys': { keys: [key] },
    }
    const document = documents[request.url ?? '']
    // Web applications often answer every other address with their page.
    response.writeHead(200, { 'content-type': document === undefined ? 'text/html' : 'application/json' })
    response.end(
      document === undefined
        ? '<!doctype html>'
        : JSON.stringify(document) + ' '.repeat(issuer.isLong ? 2 ** 21 : 0),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer: OauthIssuer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isDown: false,
    isLong: false,
    sign: (claims, header = {}) =>
      new SignJWT(claims).setProtectedHeader({ ...header, alg: 'ES256', kid: 'a' }).sign(privateKey),
    unsigned: (claims) => new UnsecuredJWT(claims).encode(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
  return issuer
}
