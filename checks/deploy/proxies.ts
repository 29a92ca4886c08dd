/**
 * `npm run check -- proxies`: `deploy/nginx.conf` and `deploy/Caddyfile`, with other ports and certificates, in front
 * of a service with the embedded database.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from 'node:http2'
import { type RequestOptions, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectTls, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { createAuthority } from '../../packages/cli/src/listen/certificates.ts'
import { newToken } from '../../packages/service/src/auth/token.ts'
import { type Hooks, startHooks } from '../../packages/testbed/arrivals.ts'
import { freePort, untilListening } from '../../packages/testbed/loopback.ts'
import { serve } from '../../packages/testbed/services.ts'
import { report } from '../report.ts'
import { tryOut } from './trial.ts'

const example = (name: string) => fileURLToPath(new URL(`../../deploy/${name}`, import.meta.url))
const mebibyte = 2 ** 20

interface Proxy {
  readonly name: string
  /** With its certificate. */
  readonly url: string
  readonly ca: string
  stop(): Promise<void>
}

await tryProxies()

async function tryProxies(): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'deskwire-proxies-'))
  chmodSync(scratch, 0o755)
  const receiver = await startHooks()
  const apiKey = newToken()
  const service = await serve(['--data-dir', join(scratch, 'data')], {
    settings: {
      DESKWIRE_BOOTSTRAP_KEY: apiKey,
      DESKWIRE_TRUSTED_PROXIES: '127.0.0.1/32',
      DESKWIRE_TRUSTED_TARGETS: '127.0.0.0/8',
      DESKWIRE_TARGET_CA: receiver.ca,
      DESKWIRE_LOG_LEVEL: 'error',
    },
  })
  const proxies: Proxy[] = []
  try {
    const upstream = new URL(service.url).host
    proxies.push(await startNginx(scratch, upstream), await startCaddy(scratch, upstream))
    setDefaultCACertificates([...getCACertificates('default'), ...proxies.map(({ ca }) => ca)])
    for (const proxy of proxies) await tryProxy(proxy, { receiver, apiKey })
    const held = await Promise.all(proxies.map((proxy) => waitAt(proxy, apiKey)))
    for (const { line, good } of held) report(line, good)
    const { status } = await fetch(`${service.url}/metrics`)
    report(`/metrics inside: ${status}`, status === 200)
  } finally {
    for (const proxy of proxies) await proxy.stop()
    await service.end('SIGTERM')
    await receiver[Symbol.asyncDispose]()
    rmSync(scratch, { recursive: true })
  }
}

async function tryProxy(
  { name, url }: Proxy,
  { receiver, apiKey }: { receiver: Hooks; apiKey: string },
): Promise<void> {
  const { line, good } = await tryOut(url, { apiKey, receiver })
  report(`${name}: ${line}`, good)

  const fits = await sendBatch(url, apiKey, 16 * mebibyte)
  report(
    `${name}: a batch of 16 MiB: ${fits.status}${fits.status === 200 ? '' : `, ${fits.said}`}`,
    fits.status === 200,
  )
  const beyond = await sendBatch(url, apiKey, 16 * mebibyte + 1)
  report(
    `${name}: one byte more: ${beyond.status}, ${beyond.type}`,
    beyond.status === 413 && beyond.type.startsWith('application/problem+json'),
  )

  const hostile = { 'X-Forwarded-Proto': 'ftp', 'X-Forwarded-Host': 'evil.example', Forwarded: 'proto=ftp' }
  const link = await call(`${url}/v1/console-links`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json', ...hostile },
    body: '{"scopes":["customers:read"]}',
  })
  const [, origin = link.said] = /"url":"([^"]+)\/console#link=/.exec(link.said) ?? []
  report(
    `${name}: a console link leads to ${origin.replace(/:\d+$/, '')}, whatever the client's X-Forwarded-Proto and -Host say; Strict-Transport-Security: ${link.secured}`,
    [url, 'https://localhost'].includes(origin) && link.secured === 'max-age=31536000',
  )

  const inside = await Promise.all(
    ['/metrics', '/readyz', '/healthz'].map(async (path) => (await fetch(url + path)).status),
  )
  report(`${name}: /metrics, /readyz, /healthz: ${inside.join(', ')}`, inside.join() === '404,404,200')

  const strangers = await floodFrom(url, '127.0.0.2')
  report(
    `${name}: of 1,500 requests without a key at once from one address, each with an X-Forwarded-For of its own, ${strangers.refused} are refused; meanwhile another address is answered ${strangers.other}`,
    strangers.refused > 0 && strangers.other === 401,
  )
}

/** A batch of customers, padded to the size. */
function sendBatch(url: string, apiKey: string, size: number): Promise<Answer> {
  const items = Array.from({ length: 20 }, () => `{"name":"Ada Lovelace"${' '.repeat(size / 22)}}`)
  const body = `{"items":[${items.join(',')}`
  const headers = {
    Authorization: `Bearer ${apiKey}`,
    'Content-Type': 'application/json',
    'Content-Length': size,
  }
  const rest = `${' '.repeat(size - body.length - 2)}]}`
  return call(`${url}/v1/customers/batch`, { method: 'POST', headers, body: body + rest })
}

/** Eight readers of a stream without changes. */
async function waitAt({ name, url }: Proxy, apiKey: string): Promise<{ line: string; good: boolean }> {
  const headers = { Authorization: `Bearer ${apiKey}` }
  const now = new Date(Date.now() + 1_000).toISOString()
  const began = performance.now()
  const statuses = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const answer = await fetch(`${url}/v1/tickets?updatedAfter=${now}&wait=50`, { headers })
      await answer.text()
      return answer.status
    }),
  )
  const took = (performance.now() - began) / 1000
  const answered = statuses.filter((status) => status === 200).length
  return {
    line: `${name}: ${answered} of 8 readers that wait for 50 s are answered, after ${took.toFixed(0)} s`,
    good: answered === 8 && took > 49,
  }
}

/** Limits see clients' addresses: one client's flood affects no other. */
async function floodFrom(url: string, localAddress: string): Promise<{ refused: number; other: number }> {
  const { hostname, port } = new URL(url)
  const tls = {
    host: hostname,
    port: Number(port),
    servername: hostname,
    localAddress,
    ALPNProtocols: ['h2'],
  }
  const sessions = Array.from({ length: 15 }, () => connect(url, { createConnection: () => connectTls(tls) }))
  try {
    const flood = sessions.flatMap((session) =>
      Array.from({ length: 100 }, (_, n) => statusOn(session, { 'x-forwarded-for': `198.51.100.${n}` })),
    )
    const other = await Promise.race(flood).then(() =>
      call(`${url}/v1/customers`, { localAddress: '127.0.0.3' }),
    )
    const refused = (await Promise.all(flood)).filter((status) => status === 429).length
    return { refused, other: other.status }
  } finally {
    for (const session of sessions) session.close()
  }
}

async function statusOn(session: ClientHttp2Session, headers: OutgoingHttpHeaders): Promise<number> {
  const stream = session.request({ ':path': '/v1/customers', ...headers })
  const [answered] = (await once(stream, 'response')) as [{ ':status'?: number }]
  await text(stream)
  return answered[':status'] ?? 0
}

interface Answer {
  readonly status: number
  readonly type: string
  readonly said: string
  /** Its Strict-Transport-Security. */
  readonly secured: string
}

/** Over HTTP/1.1 and a connection of its own. */
function call(
  url: string,
  { body, ...options }: RequestOptions & { readonly body?: string },
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const sent = request(url, { ...options, agent: false }, async (answer) => {
    const said = await text(answer).catch(() => '')
    const { 'content-type': type = '', 'strict-transport-security': secured = 'none' } = answer.headers
    resolve({ status: answer.statusCode ?? 0, type, said, secured })
  })
  sent.once('error', reject).end(body)
  return promise
}

async function startNginx(scratch: string, upstream: string): Promise<Proxy> {
  const authority = createAuthority()
  const { key, cert } = authority.issue(['localhost'])
  const directory = join(scratch, 'nginx')
  mkdirSync(directory)
  const file = (name: string, content: string) => {
    writeFileSync(join(directory, name), content)
    return join(directory, name)
  }
  const port = await freePort()
  const site = replaceOnce(readFileSync(example('nginx.conf'), 'utf8'), {
    'server 127.0.0.1:8080;': `server ${upstream};`,
    'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
    'desk.example': 'localhost',
    '/etc/ssl/deskwire/fullchain.pem': file('fullchain.pem', cert),
    '/etc/ssl/deskwire/privkey.pem': file('privkey.pem', key),
  })
  const around = `daemon off; pid ${directory}/pid; error_log ${directory}/error.log;
events { worker_connections 8192; }
http {
  access_log off;
  client_body_temp_path ${directory}/bodies; proxy_temp_path ${directory}/answers;
  fastcgi_temp_path ${directory}/1; uwsgi_temp_path ${directory}/2; scgi_temp_path ${directory}/3;
  include ${file('site.conf', site)};
}
`
  const child = spawn('nginx', ['-e', `${directory}/error.log`, '-c', file('nginx.conf', around)], {
    stdio: 'inherit',
  })
  await untilListening(port)
  return {
    name: versionOf('nginx', ['-v']),
    url: `https://localhost:${port}`,
    ca: authority.ca,
    stop: () => end(child),
  }
}

/** With a certificate of its own authority, as for any site called localhost. */
async function startCaddy(scratch: string, upstream: string): Promise<Proxy> {
  const port = await freePort()
  const config = join(scratch, 'Caddyfile')
  // Not the example's global options: this Caddy uses neither port 80 nor the machine's trust store.
  writeFileSync(
    config,
    `{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n\tlog {\n\t\tlevel ERROR\n\t}\n}\nimport ${example('Caddyfile')}\n`,
  )
  const child = spawn('caddy', ['run', '--config', config, '--adapter', 'caddyfile'], {
    env: {
      ...process.env,
      DESKWIRE_SITE: `https://localhost:${port}`,
      DESKWIRE_UPSTREAM: upstream,
      XDG_DATA_HOME: join(scratch, 'caddy'),
      XDG_CONFIG_HOME: join(scratch, 'caddy'),
    },
    stdio: 'inherit',
  })
  await untilListening(port)
  return {
    name: versionOf('caddy', ['version']),
    url: `https://localhost:${port}`,
    ca: readFileSync(join(scratch, 'caddy/caddy/pki/authorities/local/root.crt'), 'utf8'),
    stop: () => end(child),
  }
}

async function end(child: ReturnType<typeof spawn>): Promise<void> {
  const ended = once(child, 'close')
  child.kill('SIGTERM')
  await Promise.race([ended, delay(10_000, undefined, { ref: false }).then(() => child.kill('SIGKILL'))])
  await ended
}

/** Replaces what is specific to a machine. */
function replaceOnce(content: string, changes: Readonly<Record<string, string>>): string {
  return Object.entries(changes).reduce((before, [from, to]) => {
    if (before.split(from).length !== 2) throw new Error(`the example has not one ${from}`)
    return before.replace(from, to)
  }, content)
}

function versionOf(program: string, flags: readonly string[]): string {
  const said = execFileSync('sh', ['-c', `${program} ${flags.join(' ')} 2>&1`], { encoding: 'utf8' })
  return `${program} ${/(\d+\.)+\d+/.exec(said)?.[0] ?? ''}`
}
