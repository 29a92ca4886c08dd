/** An OAuth issuer on this machine: its metadata, its keys, and access tokens as a test wants them. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import Provider from 'oidc-provider'

export interface OauthIssuer extends AsyncDisposable {
  readonly url: string
  /** Refuses every request while it is true. */
  isDown: boolean
  /** Its documents have 2 MiB while it is true. */
  isLong: boolean
  /**
   * Responds at the first address of its metadata. Default: with a page, as web applications do at every other
   * address.
   */
  first: ((request: IncomingMessage, response: ServerResponse) => void) | null
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
    if (issuer.first !== null && request.url === '/.well-known/oauth-authorization-server') {
      issuer.first(request, response)
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
  const issuer: OauthIssuer = {
    url: await urlOf(server),
    isDown: false,
    isLong: false,
    first: null,
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

async function urlOf(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

interface AuthorizationServer extends AsyncDisposable {
  readonly url: string
  /** A token for these parameters of the request: `scope`, `resource`. */
  tokenFor(parameters: Record<string, string>): Promise<string>
}

/** The authorization server of `oidc-provider`, as it is by default but for its client, its scopes and this claim. */
export async function startAuthorizationServer(
  claims: Record<string, string>,
  scopes: readonly string[],
): Promise<AuthorizationServer> {
  const client = { client_id: 'agent', client_secret: 'a secret of tests' }
  const server = createServer()
  const url = await urlOf(server)
  const provider = new Provider(url, {
    clients: [{ ...client, grant_types: ['client_credentials'], redirect_uris: [], response_types: [] }],
    scopes: [...scopes],
    features: {
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({ scope: scopes.join(' '), accessTokenFormat: 'jwt' }),
      },
    },
    extraTokenClaims: () => claims,
  })
  server.on('request', provider.callback())
  return {
    url,
    async tokenFor(parameters) {
      const body = new URLSearchParams({ ...client, grant_type: 'client_credentials', ...parameters })
      const response = await fetch(`${url}/token`, { method: 'POST', body })
      return ((await response.json()) as { access_token: string }).access_token
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
