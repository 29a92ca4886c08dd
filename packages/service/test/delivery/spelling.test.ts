/**
 * However an address is spelled in a URL, it is judged as the address that it is. The spellings are those of the WHATWG
 * URL standard's host parser; the oracle is the address that they were made from.
 */
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { refusedBlock } from '../../src/delivery/send/address.ts'
import { createResolver, notPublic } from '../../src/delivery/send/resolver.ts'
import { parseTargetUrl } from '../../src/delivery/send/url.ts'
import { noNetworks } from '../../src/kernel/networks.ts'

// A name server that nobody is: an address that is taken for a name is a failure, and not an answer.
const resolver = createResolver({
  servers: ['127.0.0.1:1'],
  trusted: noNetworks,
  clock: testClock(),
  hostsFile: '/no such file',
})
afterAll(() => resolver.close())

async function judge(host: string) {
  const url = parseTargetUrl(`https://${host}/hook`)
  if (!url.ok) return { outcome: 'refused', detail: url.error.detail }
  return resolver.resolve(url.value.hostname, { fresh: true, timeoutMs: 5000 })
}

/** What has to be said of `ip`, however it is spelled. */
function expected(ip: string) {
  const why = refusedBlock(ip, noNetworks)
  return why === null
    ? { outcome: 'addresses', addresses: [expect.any(String)] }
    : { outcome: 'not_public', detail: notPublic, block: why }
}

/** Four bytes: any, or of what is worth reaching from inside. */
const bytes = fc.oneof(
  fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)),
  fc.constantFrom<[number, number, number, number]>(
    [127, 0, 0, 1],
    [169, 254, 169, 254],
    [10, 0, 0, 1],
    [192, 168, 1, 1],
    [172, 16, 0, 1],
    [100, 64, 0, 1],
    [0, 0, 0, 0],
    [255, 255, 255, 255],
  ),
)

const number = fc.constantFrom<(value: number) => string>(
  (value) => String(value),
  (value) => `0x${value.toString(16)}`,
  (value) => `0X${value.toString(16).toUpperCase()}`,
  (value) => `0x000${value.toString(16)}`,
  (value) => `0${value.toString(8)}`,
  (value) => `0000${value.toString(8)}`,
)

/** One to four numbers, the last of which stands for all the bytes that are left. */
const numbers = fc
  .tuple(bytes, fc.integer({ min: 1, max: 4 }), fc.tuple(number, number, number, number))
  .map(([ip, parts, spell]) => {
    const rest = ip.slice(parts - 1).reduce((sum, byte) => sum * 256 + byte, 0)
    const values = [...ip.slice(0, parts - 1), rest]
    return { ip: ip.join('.'), host: values.map((value, n) => spell[n % 4]?.(value)).join('.') }
  })

const dots = ['.', '\u3002', '\uff0e', '\uff61', '%2e', '%E3%80%82']
const letters: readonly ((character: string) => string)[] = [
  (character) => character,
  (character) => `%${character.charCodeAt(0).toString(16)}`,
  // Full-width forms stand at one distance from ASCII.
  (character) => String.fromCharCode(character.charCodeAt(0) + 0xfee0),
  (character) => encodeURIComponent(String.fromCharCode(character.charCodeAt(0) + 0xfee0)),
  // Soft hyphens are nothing in a host.
  (character) => `\u00ad${character}`,
]

const disguised = fc
  .tuple(numbers, fc.infiniteStream(fc.nat(29)), fc.constantFrom('', '.'))
  .map(([{ ip, host }, choices, end]) => {
    const choose = <T>(options: readonly T[]) => options[(choices.next().value ?? 0) % options.length] as T
    const spelled = [...host].map((character) =>
      character === '.' ? choose(dots) : choose(letters)(character),
    )
    return { ip, host: spelled.join('') + end }
  })

test('an IPv4 address in any notation is that address', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(numbers, disguised), async ({ ip, host }) => {
      expect(await judge(host)).toEqual(expected(ip))
    }),
    { numRuns: 1000 },
  )
})

const hextets = fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff)), { minLength: 8, maxLength: 8 })
const embedding = fc
  .tuple(bytes, fc.constantFrom([0, 0, 0, 0, 0, 0xffff], [0, 0, 0, 0, 0, 0], [0x64, 0xff9b, 0, 0, 0, 0]))
  .map(([[a, b, c, d], start]) => [...start, a * 256 + b, c * 256 + d])

/** Eight groups, with zeros before them or not, in either case, shortened somewhere or nowhere, the end dotted or not. */
const spelledV6 = fc
  .tuple(fc.oneof(hextets, embedding), fc.boolean(), fc.boolean(), fc.boolean(), fc.nat(7))
  .map(([groups, padded, upper, dotted, from]) => {
    const full = groups.map((group) => group.toString(16))
    const texts = full.map((text) => (padded ? text.padStart(4, '0') : text))
    if (dotted) {
      const [high = 0, low = 0] = groups.slice(6)
      texts.splice(6, 2, `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`)
    }
    let to = from
    while (to < Math.min(8, texts.length) && groups[to] === 0 && !texts[to]?.includes('.')) to++
    const short =
      to > from ? `${texts.slice(0, from).join(':')}::${texts.slice(to).join(':')}` : texts.join(':')
    return { ip: full.join(':'), host: `[${upper ? short.toUpperCase() : short}]` }
  })

test('an IPv6 address in any notation is that address', async () => {
  await fc.assert(
    fc.asyncProperty(spelledV6, async ({ ip, host }) => {
      expect(await judge(host)).toEqual(expected(ip))
    }),
    { numRuns: 1000 },
  )
})

test.each([
  '256.0.0.1',
  '127.0.0.256',
  '127.0.65536',
  '127.16777216',
  '4294967296',
  '0x100000000',
  '040000000000',
  '1.2.3.4.5',
  '127.0.0.1.1.',
  '127..1',
  '.127.0.0.1',
  '08.8.8.8.8',
  '127.0.0.1e0.1',
  '[::1%25lo]',
  '[::1%lo]',
  '[fe80::1%251]',
  '[::1',
  '[::ffff:127.0.0.256]',
  '[::ffff:127.0.0.01]',
  '[::ffff:0x7f.1]',
  '[1::2::3]',
  '[:::1]',
  '[12345::]',
  '[127.0.0.1]',
  '[v1.::1]',
  '%5B::1%5D',
  '127.0.0.1%00',
  '127.0.0.1%2f',
  '127.0.0.1%40hook.test',
])('%s is no host', async (host) => {
  expect(await judge(host)).toMatchObject({ outcome: 'refused' })
})
