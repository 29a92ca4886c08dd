/**
 * The way out through a proxy (DESKWIRE_EGRESS_PROXY): a tunnel by HTTP CONNECT to a checked address, so that the proxy
 * looks nothing up. TLS with the receiver goes through it and is verified by the receiver's name.
 */
import * as net from 'node:net'
import * as tls from 'node:tls'
import { isDecodable } from '../../kernel/origins.ts'
import type { EgressProxy } from '../model.ts'
import type { Deadline } from './deadlines.ts'
import { type Failure, failure, peerName } from './failure.ts'

/** Undefined unless it is an http or https URL of a host alone, with credentials that can be decoded or without. */
export function parseEgressProxy(text: string): EgressProxy | undefined {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.pathname !== '/' || /[?#]/.test(text))
    return undefined
  if (!isDecodable(url.username) || !isDecodable(url.password)) return undefined
  const isSecure = url.protocol === 'https:'
  const credentials = [url.username, url.password].map(decodeURIComponent).join(':')
  return {
    isSecure,
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
    authorization: credentials === ':' ? null : `Basic ${Buffer.from(credentials).toString('base64')}`,
  }
}

interface Tunnel {
  readonly socket: net.Socket
  /** The receiver's. */
  readonly address: string
}

interface TunnelTarget {
  readonly addresses: readonly string[]
  readonly port: number
  /** For TLS with the proxy. */
  readonly secureContext: tls.SecureContext
}

const longestHead = 16 * 1024
/** The proxy says that it could not reach the address. */
const unreachable: readonly number[] = [502, 503, 504]

/**
 * A tunnel to the first of the addresses that the proxy reaches, by the deadline. What the proxy itself refuses or
 * fails in is `proxy_failed`; messages do not name the proxy, as the owner of an endpoint reads them.
 */
export async function openTunnel(
  proxy: EgressProxy,
  { addresses, port, secureContext }: TunnelTarget,
  deadline: Deadline,
): Promise<Tunnel | Failure> {
  let opened: Tunnel | Failure = failure('connection_failed', 'There is no address to connect to')
  for (const address of addresses) {
    opened = await connect(proxy, secureContext, { address, port }, deadline)
    if (!('kind' in opened) || opened.code !== 'connection_failed') return opened
  }
  return opened
}

function connect(
  { isSecure, host, port, authorization }: EgressProxy,
  secureContext: tls.SecureContext,
  target: { readonly address: string; readonly port: number },
  deadline: Deadline,
): Promise<Tunnel | Failure> {
  const peer = peerName(target.address, target.port)
  const { promise, resolve } = Promise.withResolvers<Tunnel | Failure>()
  const begin = () => {
    isConnected = true
    const credentials = authorization === null ? '' : `proxy-authorization: ${authorization}\r\n`
    socket.write(`CONNECT ${peer} HTTP/1.1\r\nhost: ${peer}\r\n${credentials}\r\n`)
  }
  let isConnected = false
  const to = { host, port, noDelay: true, keepAlive: true }
  const servername = net.isIP(host) === 0 ? host : ''
  const socket = isSecure
    ? tls.connect({ ...to, servername, secureContext, ALPNProtocols: ['http/1.1'] }, begin)
    : net.connect(to, begin)
  let head = Buffer.alloc(0)
  const end = (outcome: Failure) => {
    deadline.onPass = null
    socket.destroy()
    resolve(outcome)
  }
  const onClose = () => end(failure('proxy_failed', 'The proxy closed the connection before it answered'))
  const onData = (bytes: Buffer) => {
    head = Buffer.concat([head, bytes])
    const length = head.indexOf('\r\n\r\n')
    if (length === -1 && head.length <= longestHead) return
    const [, digits] = /^HTTP\/1\.[01] (\d{3})[ \r]/.exec(head.toString('latin1')) ?? []
    const status = Number(digits)
    if (length === -1 || digits === undefined)
      return end(failure('proxy_failed', 'The proxy did not answer in HTTP/1.1'))
    if (unreachable.includes(status))
      return end(
        failure('connection_failed', `The proxy could not connect to ${peer}: it answered ${status}`),
      )
    if (status < 200 || status > 299)
      return end(failure('proxy_failed', `The proxy refused a connection to ${peer}: it answered ${status}`))
    deadline.onPass = null
    socket.off('data', onData)
    socket.off('close', onClose)
    socket.pause()
    const rest = head.subarray(length + 4)
    if (rest.length > 0) socket.unshift(rest)
    resolve({ socket, address: target.address })
  }
  socket.on('data', onData)
  // Stays as long as the socket: an error without a listener would end the process.
  socket.on('error', (error: NodeJS.ErrnoException) =>
    end(failure('proxy_failed', `The proxy cannot be reached (${error.code ?? 'no connection'})`)),
  )
  socket.on('close', onClose)
  const onPass = () =>
    end(
      isConnected
        ? failure('timeout', `The proxy did not connect to ${peer} in time`)
        : failure('proxy_failed', 'The proxy did not accept the connection in time'),
    )
  deadline.onPass = onPass
  if (deadline.passed) onPass()
  return promise
}
