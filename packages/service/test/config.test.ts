import { createRequire } from 'node:module'
import { describe, expect, test } from 'vitest'
import {
  type Config,
  flagOf,
  ineffectiveVariables,
  readConfig,
  settings,
  settingsHelp,
  shownDefault,
} from '../src/config.ts'
import { noNetworks, parseNetworks } from '../src/kernel/networks.ts'
import { refusedPorts } from '../src/roles/listen.ts'

const encryptionKey = Buffer.alloc(32, 9)
const key = 'dwk_0123456789ABCDEFGHIJKLMNOPQRST3bhm22'

interface Example {
  readonly default: unknown
  readonly text: string
  readonly value: unknown
  readonly bad: readonly string[]
}

/** Of every setting: its default, a text with what it means, and texts that are not accepted. */
const examples: Record<keyof typeof settings, Example> = {
  host: { default: '127.0.0.1', text: '::1', value: '::1', bad: ['a host', 'http://x'] },
  port: { default: null, text: '0', value: 0, bad: ['65536', '-1', '80a', '8.5', '1e3', ' 80', '123456'] },
  metricsPort: { default: null, text: '9090', value: 9090, bad: ['65536', 'none', '-1'] },
  adminKey: {
    default: null,
    text: 'operator-0123456789_0123456789abcd',
    value: 'operator-0123456789_0123456789abcd',
    bad: ['hidden', 'a key of thirty-two characters or more'],
  },
  databaseUrl: {
    default: null,
    text: 'postgresql://u:p@db:5432/desk',
    value: 'postgresql://u:p@db:5432/desk',
    bad: ['mysql://u:hidden@db/desk', 'postgres://u:hidden@db:port/desk', 'hidden'],
  },
  databaseDirectUrl: {
    default: null,
    text: 'postgres://u@/desk?host=/run/postgresql',
    value: 'postgres://u@/desk?host=/run/postgresql',
    bad: ['mysql://u:hidden@db/desk', 'hidden'],
  },
  databases: {
    default: null,
    text: 'one postgres://u:p@a/desk; two postgres://u@pooler/desk postgres://u@b/desk',
    value: {
      databases: [
        { name: 'one', url: 'postgres://u:p@a/desk', directUrl: null },
        { name: 'two', url: 'postgres://u@pooler/desk', directUrl: 'postgres://u@b/desk' },
      ],
    },
    bad: [
      'One postgres://u:hidden@a/desk',
      'one postgres://u:hidden@a/desk mysql://hidden',
      'one postgres://u:hidden@a/desk; one postgres://u:hidden@b/desk',
      'one postgres://u:hidden@a/desk; two postgres://u:hidden@a/desk',
      'postgres://u:hidden@a/desk',
    ],
  },
  dataDir: { default: './data', text: '/var/lib/deskwire', value: '/var/lib/deskwire', bad: [] },
  bootstrapKey: { default: null, text: key, value: key, bad: [`${key.slice(0, -1)}3`, 'hidden'] },
  firstKeyFile: { default: null, text: '/run/key', value: '/run/key', bad: [] },
  role: { default: 'all', text: 'worker', value: 'worker', bad: ['both', 'API'] },
  encryptionKey: {
    default: null,
    text: encryptionKey.toString('base64'),
    value: encryptionKey,
    bad: [Buffer.alloc(31, 9).toString('base64'), 'hidden'],
  },
  encryptionKeyPrevious: {
    default: null,
    text: encryptionKey.toString('base64'),
    value: encryptionKey,
    bad: [Buffer.alloc(33, 9).toString('base64'), 'hidden'],
  },
  trustedTargets: {
    default: noNetworks,
    text: '127.0.0.0/8,fd00::/8',
    value: parseNetworks('127.0.0.0/8,fd00::/8'),
    bad: ['loopback', '127.0.0.0/33'],
  },
  targetCa: { default: null, text: './ca.pem', value: './ca.pem', bad: [] },
  egressProxy: {
    default: null,
    text: 'https://desk:a%40b@proxy.example:3129',
    value: {
      isSecure: true,
      host: 'proxy.example',
      port: 3129,
      authorization: `Basic ${Buffer.from('desk:a@b').toString('base64')}`,
    },
    bad: [
      'proxy.example:3128',
      'socks5://u:hidden@proxy.example',
      'http://proxy.example/path',
      'http://u:%E0%A4%A@proxy.example',
    ],
  },
  dnsServers: { default: null, text: '127.0.0.1:5353', value: ['127.0.0.1:5353'], bad: ['dns.example'] },
  retryDelays: {
    default: [60_000, 300_000, 1_800_000, 7_200_000, 28_800_000],
    text: '100ms,2s',
    value: [100, 2_000],
    bad: ['1m,3651d', '1 m', '1m;2m', '5', '1.5s', '1m,,2m'],
  },
  answerTimeout: { default: 10_000, text: '500ms', value: 500, bad: ['0s', '10', 'ten', '61m', '30d'] },
  disableAfter: { default: 259_200_000, text: '1h', value: 3_600_000, bad: ['0d', '-1h', '3651d'] },
  rotationOverlap: { default: 86_400_000, text: '5m', value: 300_000, bad: ['1w', '3000000d'] },
  logRetention: {
    default: 2_592_000_000,
    text: '7d',
    value: 604_800_000,
    bad: ['forever', '36500d', '999999999d'],
  },
  rateLimit: {
    default: { perSecond: 100, burst: 500 },
    text: '20/s,burst 40',
    value: { perSecond: 20, burst: 40 },
    bad: ['100', '0/s', '10/m', '10/s, burst 0', '10/s burst 5', '1.5/s', 'off'],
  },
  mcp: {
    default: null,
    text: 'https://login.example/',
    value: { issuer: 'https://login.example/' },
    bad: [
      'yes',
      'ON',
      '1',
      'login.example',
      'http://login.example',
      'https://me@login.example',
      'https://login.example/?a',
    ],
  },
  summarizer: {
    default: 'sentences',
    text: 'qwen3:8b http://localhost:11434/v1',
    value: { model: 'qwen3:8b', url: 'http://localhost:11434/v1' },
    bad: [
      'no',
      'OFF',
      'qwen3:8b',
      'http://localhost:11434/v1',
      'a b http://localhost/v1',
      'm localhost:11434/v1',
      'm ftp://localhost/v1',
      'm https://me@ai.example/v1',
      'm https://ai.example/v1?key=1',
      'm https://ai.example/v1#a',
      'm https://ai.example/v1/chat/completions',
    ],
  },
  publicUrl: {
    default: null,
    text: 'HTTPS://Desk.example:443/',
    value: 'https://desk.example',
    bad: [
      'desk.example',
      'ftp://desk.example',
      'https:desk.example',
      'https:///desk.example',
      'https://desk.example/desk',
      'https://desk.example//',
      'https://desk.example?',
      'https://desk.example/#',
      'https://me@desk.example',
      'https://me:hidden@desk.example',
      'https://desk.example:99999',
      'https://*.example',
      'https://desk .example',
      'https://desk.example, https://b.example',
      'https://',
    ],
  },
  webhookAddresses: {
    default: [],
    text: '203.0.113.7,2001:db8::/64',
    value: ['203.0.113.7/32', '2001:db8::/64'],
    bad: ['example.com', '203.0.113.0/33'],
  },
  trustedProxies: {
    default: noNetworks,
    text: '10.0.0.0/8, 2001:db8::1',
    value: parseNetworks('10.0.0.0/8,2001:db8::1'),
    bad: ['proxy.internal', '10.0.0.0/33', 'true', '1.2.3'],
  },
  corsOrigins: {
    default: [],
    text: 'https://app.example, http://localhost:5173',
    value: ['https://app.example', 'http://localhost:5173'],
    bad: [
      '*',
      'null',
      'app.example',
      'https://app.example/',
      'https://app.example/path',
      'https://app.example:443',
      'https://App.example',
      'https://*.example',
      'ftp://app.example',
    ],
  },
  consoleFrameAncestors: {
    default: [],
    text: 'https://app.example, http://localhost:5173',
    value: ['https://app.example', 'http://localhost:5173'],
    bad: [
      '*',
      "'self'",
      'app.example',
      'https://app.example/',
      'https://*.example',
      'https://app.example;',
      'https://app.example https://b.example',
      'http://[::1]:5173',
    ],
  },
  maxRows: {
    default: null,
    text: '100000',
    value: 100_000,
    bad: ['-1', '1.5', 'none', '1e6', '9'.repeat(13)],
  },
  maxBytes: {
    default: null,
    text: '10GiB',
    value: 10 * 2 ** 30,
    bad: ['-1', '1GB', '1.5GiB', '10 GiB', '9999TiB'.repeat(2), '999999999999999KiB'],
  },
  summaryDelay: { default: 120_000, text: '30s', value: 30_000, bad: ['0s', 'never'] },
  summarizerKey: { default: null, text: 'sk-1', value: 'sk-1', bad: ['hidden in two\nlines', 'hidden ä'] },
  logLevel: { default: 'info', text: 'silent', value: 'silent', bad: ['INFO', 'verbose'] },
}
const all = Object.entries(examples) as [keyof Config, Example][]
const secrets: readonly string[] = [
  'adminKey',
  'databaseUrl',
  'databaseDirectUrl',
  'databases',
  'egressProxy',
  'bootstrapKey',
  'encryptionKey',
  'encryptionKeyPrevious',
  'summarizerKey',
]

function read(environment: Record<string, string>, flags: string[] = []): Config {
  const config = readConfig(environment, flags)
  if (!config.ok) throw new Error(config.error)
  return config.value
}

function refusal(environment: Record<string, string>, flags: string[] = []): string {
  const config = readConfig(environment, flags)
  if (config.ok) throw new Error('accepted')
  return config.error
}

describe.each(all)('the setting %s', (name, example) => {
  const { variable, accepts } = settings[name]
  const flag = `--${flagOf(variable)}`

  test('has its default when nothing is said, or when its variable is empty', () => {
    expect(read({})[name]).toEqual(example.default)
    expect(read({ [variable]: '' })[name]).toEqual(example.default)
  })

  test('comes from its variable, and from its flag before that', () => {
    expect(read({ [variable]: example.text })[name]).toEqual(example.value)
    expect(read({}, [flag, example.text])[name]).toEqual(example.value)
    expect(read({ [variable]: 'not read' }, [`${flag}=${example.text}`])[name]).toEqual(example.value)
  })

  test('refuses a bad value in one line that says where it stands and what is accepted', () => {
    for (const bad of example.bad) {
      for (const [where, line] of [
        [variable, refusal({ [variable]: bad })],
        [flag, refusal({}, [`${flag}=${bad}`])],
      ] as const) {
        expect(line.startsWith(`${where}: `)).toBe(true)
        expect(line).toContain(accepts)
        expect(line).not.toContain('\n')
        // A secret is not repeated where it may be logged; any other value is.
        expect(line.includes(bad)).toBe(!secrets.includes(name))
        if (secrets.includes(name)) expect(line).not.toContain('hidden')
      }
    }
  })

  test('is in the help with its flag, its variable and its default', () => {
    const lines = settingsHelp().split('\n')
    const line = lines.find((text) => text.trim().startsWith(`${flag} `))
    expect(line).toContain(variable)
    expect(line).toContain(`(${shownDefault(settings[name])})`)
  })
})

describe('DESKWIRE_RATE_LIMIT', () => {
  test('0 limits nothing; a rate alone has the burst of a second', () => {
    expect(read({ DESKWIRE_RATE_LIMIT: '0' }).rateLimit).toBeNull()
    expect(read({ DESKWIRE_RATE_LIMIT: '7/s' }).rateLimit).toEqual({ perSecond: 7, burst: 7 })
  })
})

describe('readConfig', () => {
  test('a line break in a value does not break the line', () => {
    expect(refusal({ DESKWIRE_HOST: 'a\nb' })).not.toContain('\n')
  })

  test.each([
    [['--colour', 'red']],
    [['extra']],
    [['--port']],
    [['--port', '--host']],
    [['--bootstrap-key', '-x']],
  ])('flags that are not understood, %j, give one line that says where to look', (flags) => {
    const line = refusal({}, flags)
    expect(line).not.toContain('\n')
    expect(line).toContain('deskwire serve --help')
  })
})

test('the flag of a setting that has left is refused with what replaces it', () => {
  for (const flags of [['--worker-port', '9090'], ['--worker-port=9090']])
    expect(refusal({}, flags)).toBe(
      '--worker-port is no longer a setting: a process of role worker listens on DESKWIRE_PORT',
    )
})

describe('variables that have no effect', () => {
  test('each is named with the setting that replaces it or is most like it', () => {
    const environment = {
      DESKWIRE_PROT: '1',
      DESKWIRE_TRUSTED_TARGET: 'x',
      DESKWIRE_WORKER_PORT: '1',
      DESKWIRE_PORT: '1',
      DESKWIRE_API_KEY: 'x',
      PATH: '/bin',
    }
    expect(ineffectiveVariables(environment).map(({ found, advice }) => `${found}; ${advice}`)).toEqual([
      'DESKWIRE_PROT is not a setting and has no effect; the most similar setting is DESKWIRE_PORT',
      'DESKWIRE_TRUSTED_TARGET is not a setting and has no effect; the most similar setting is DESKWIRE_TRUSTED_TARGETS',
      'DESKWIRE_WORKER_PORT is no longer a setting and has no effect; a process of role worker listens on DESKWIRE_PORT',
    ])
  })

  const ports = Object.values(settings).flatMap(({ variable }) => (/_PORT$/.test(variable) ? [variable] : []))
  test.each(ports)('%s that Kubernetes sets for a Service stays at its default, with one warning', (port) => {
    const service = port.replace(/_PORT$/, '')
    for (const address of ['tcp://10.0.0.1:8080', 'udp://[fd00::1]:53', 'sctp://10.0.0.1:9']) {
      const links = {
        [`${service}_SERVICE_HOST`]: '10.0.0.1',
        [`${service}_SERVICE_PORT`]: '8080',
        [`${service}_SERVICE_PORT_HTTP`]: '8080',
        [port]: address,
        [`${port}_8080_TCP`]: 'tcp://10.0.0.1:8080',
        [`${port}_8080_TCP_PROTO`]: 'tcp',
        [`${port}_8080_TCP_PORT`]: '8080',
        [`${port}_8080_TCP_ADDR`]: '10.0.0.1',
      }
      expect(read(links)).toEqual(read({}))
      expect(ineffectiveVariables(links)).toEqual([
        {
          found: `${Object.keys(links).join(', ')}: Kubernetes sets these for a Service, and they have no effect`,
          advice: 'enableServiceLinks: false in the pod leaves them out',
        },
      ])
    }
    expect(refusal({}, [`--${flagOf(port)}`, 'tcp://10.0.0.1:8080'])).toContain('a port from 0 to 65535')
    expect(ineffectiveVariables({ [port]: 'tcp:8080' })).toEqual([])
    expect(refusal({ [port]: 'tcp:8080' })).toContain(port)
  })
})

test('the ports that a start warns of are those that fetch refuses', () => {
  const { badPorts } = createRequire(import.meta.url)('undici/lib/web/fetch/constants.js') as {
    badPorts: string[]
  }
  expect(refusedPorts).toEqual(badPorts.map(Number))
})
