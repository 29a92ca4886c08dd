/**
 * Why no answer arrived: one sentence for each cause that a runtime tells apart, which names the host, and what to
 * do. Bundles for browsers, which tell no cause, have `unanswered-page.ts` instead (`imports` in package.json).
 */

/** What the errors of `fetch` carry, as far as a runtime says. */
interface Failure {
  readonly name?: string
  readonly code?: unknown
  readonly message?: string
  readonly syscall?: string
  readonly hostname?: string
  readonly address?: string
  readonly port?: number | string
  readonly cert?: { readonly subjectaltname?: string }
  readonly cause?: unknown
  readonly errors?: readonly Failure[]
}

/** Says why a request to this address got no complete answer. */
export const whyUnanswered = (cause: unknown, address: string): string => {
  const url = new URL(address)
  const { host } = url
  const { name, code, message = '', hostname, address: ip, port, cert } = innermost(cause)
  const proxy = isOther(url, hostname, ip === undefined ? undefined : port) ? ', of a proxy,' : ''
  switch (code) {
    case 'ENOTFOUND':
      return `The name ${hostname ?? host}${proxy} does not resolve (${code}). Check its spelling.`
    case 'EAI_AGAIN':
      return `The name ${hostname ?? host}${proxy} could not be looked up (${code}). Check that the network and its name servers work.`
    case 'ECONNREFUSED':
      return `Nothing listens at ${ip === undefined ? host : `${ip}:${port}`}${proxy || ','} to reach ${host} (${code}). Check that it runs, and its address and port.`
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `The network has no way to ${host} (${code}). Check the address, routes and firewalls.`
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
      return `${host} did not take the connection in time (${code}). Check the address, and firewalls in between.`
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return `${host} does not speak TLS at this port (${code}). Write http://, or the port where it does.`
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `The certificate of ${host} is for ${cert?.subjectaltname ?? 'other names'} (${code}). Use such a name in the base address.`
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return `The certificate of ${host} is not accepted: ${message} (${code}). Renew it, or check the clock of this machine.`
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return `${host} closed the connection before a complete answer (${code}).${url.protocol === 'http:' ? ' If it speaks TLS at this port, write https://.' : ''} Otherwise try again.`
    case 'UND_ERR_ABORTED':
      return `The proxy did not connect to ${host}: ${message}.`
  }
  if (typeof code === 'string' && /CERT|SIGNED|ISSUER|UNABLE_TO/.test(code))
    return `The certificate of ${host} is not accepted: ${message} (${code}). If an authority of your own signed it, name the file of its certificate in NODE_EXTRA_CA_CERTS and start again.`
  if (typeof code === 'string' && /^(?:ERR_SSL|EPROTO)/.test(code))
    return `TLS with ${host} failed: ${message} (${code}).`
  if (message === 'bad port')
    return `fetch and browsers refuse to connect to port ${url.port}, whatever listens there. Let the service listen at another port (DESKWIRE_PORT).`
  if (name === 'HTTPParserError')
    return `What answers at ${host} does not speak HTTP. Check the port${url.protocol === 'http:' ? ', and whether it wants https://' : ''}.`
  if (name === 'TimeoutError') return `No complete answer from ${host}: ${message}`
  return `No complete answer arrived from ${host}${message === '' ? '' : `: ${message.replace(/\.?$/, '.')}`} Check the base address and that the service is running.`
}

/** Whether a request has certainly not been sent: there was no connection to send it on. Not every runtime says so. */
export const wasNotSent = (cause: unknown): boolean => {
  const { code, syscall } = innermost(cause)
  return syscall === 'connect' || syscall === 'getaddrinfo' || code === 'UND_ERR_CONNECT_TIMEOUT'
}

/** The last cause of a chain; of several attempts the first. */
const innermost = (cause: unknown): Failure => {
  const failure = (typeof cause === 'object' && cause !== null ? cause : {}) as Failure
  const deeper = failure.errors?.[0] ?? failure.cause
  return deeper === undefined ? failure : innermost(deeper)
}

/** Whether another host than that of the address was asked: a proxy. */
const isOther = (url: URL, hostname: string | undefined, port: number | string | undefined): boolean => {
  const own = url.port || (url.protocol === 'https:' ? '443' : '80')
  return (hostname !== undefined && hostname !== url.hostname) || (port !== undefined && String(port) !== own)
}
