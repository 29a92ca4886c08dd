/**
 * Texts that break programs, in every field of every kind that takes free text: what comes back is what went in, or the
 * text is refused in words.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { verify } from '@deskwire/sdk/signature'
import { isStorable } from '../../packages/service/src/kernel/fields/fields.ts'
import { startBrowser, watchedPage } from '../../packages/testbed/browser.ts'
import { eventually } from '../../packages/testbed/eventually.ts'
import { mcpClient } from '../../packages/testbed/mcp-client.ts'
import type { Desk, Shown } from './desk.ts'
import { type Row, short, Tally } from './matrix.ts'

/** Where a text is in an object: names and indexes. */
type Path = readonly (string | number)[]

/** What a kind takes with the text in every free field. */
interface Form {
  readonly plural: string
  /** `n` makes what must be unique differ. */
  readonly of: (text: string, n: number) => Shown
  /** Null: it has none of its creation. */
  readonly event: string | null
}

interface Made {
  readonly form: Form
  readonly text: string
  /** What was sent and accepted. */
  readonly sent: Shown
  /** As the API has answered. */
  readonly row: Shown
}

/** Texts of this length at most fit into names of custom attributes; others are values only. */
const longestName = 40
const longestTag = 50
/** Fits into every field, with a few that take two of UTF-16. */
const perText = 200

/** Every assigned character, without ideographs, syllables of Hangul and private ones, of which there are too many alike. */
export function everyCharacter(): readonly string[] {
  const characters: string[] = []
  for (let code = 1; code <= 0x10ffff; code++) {
    const character = String.fromCodePoint(code)
    if (/\p{Assigned}/u.test(character) && !/[\p{Script=Han}\p{Script=Hangul}\p{Co}\p{Cs}]/u.test(character))
      characters.push(character)
  }
  const texts: string[] = []
  for (let from = 0; from < characters.length; from += perText)
    texts.push(characters.slice(from, from + perText).join(''))
  // In both forms, which are two texts.
  return [...new Set(texts.flatMap((text) => [text, text.slice(0, perText / 2).normalize('NFD')]))]
}

export async function textRow(corpus: string, listed: readonly string[], desk: Desk): Promise<Row> {
  const texts = [...new Set(listed)]
  const { json: customer } = await desk.call('POST', '/v1/customers', { name: 'Ada' })
  const { json: conversation } = await desk.call('POST', '/v1/conversations', {
    customerId: customer.id,
    channel: 'email',
  })
  const forms = formsOf(customer.id, conversation.id)
  const hook = await desk.hooks.register(desk, `texts${desk.hooks.arrivals.length}`, [
    ...new Set(forms.flatMap(({ event }) => event ?? [])),
  ])
  const api = new Tally()
  const made: Made[] = []
  for (const form of forms) made.push(...(await create(form, texts, desk, api)))
  const cells = {
    API: api,
    query: await query(made, desk),
    import: await imports(texts, desk),
    mirror: await mirrors(made, desk),
    webhook: await deliveries(made, hook, desk),
    MCP: await tools(texts, conversation.id, desk),
    SDK: await client(texts, desk),
    console: await screens(texts, customer.id, conversation.id, desk),
  }
  await desk.call('DELETE', `/v1/webhooks/${hook.id}`)
  return { corpus, cells }
}

function formsOf(customerId: string, conversationId: string): readonly Form[] {
  const own = (text: string, n: number) => ({
    externalId: text === '' ? null : text,
    tags: text === '' || lengthOf(text) > longestTag ? [] : [text],
    customAttributes: {
      value: text,
      ...(text === '' || lengthOf(text) > longestName ? {} : { [text]: `n${n}` }),
    },
  })
  const author = (text: string) => ({ type: 'teammate', ...(text === '' ? {} : { name: text }) })
  return [
    { plural: 'teammates', event: null, of: (name) => ({ name }) },
    {
      plural: 'customers',
      event: 'customer.created',
      of: (text, n) => ({ name: text, company: text, ...own(text, n) }),
    },
    {
      plural: 'conversations',
      event: 'conversation.created',
      of: (text, n) => ({ customerId, channel: 'chat', subject: text, ...own(text, n) }),
    },
    ...['text', 'html', 'markdown'].map((contentType) => ({
      plural: 'messages',
      event: 'message.sent',
      of: (text: string) => ({
        conversationId,
        direction: 'outbound',
        author: author(text),
        body: text,
        contentType,
        externalId: text === '' ? null : `${contentType} ${text}`,
        attachments: [
          {
            fileName: text,
            contentType: 'text/plain',
            size: 1,
            url: 'https://files.example.com/1',
          },
        ],
      }),
    })),
    {
      plural: 'notes',
      event: 'note.created',
      of: (text) => ({ conversationId, author: author(text), body: text }),
    },
    {
      plural: 'tickets',
      event: 'ticket.created',
      of: (text, n) => ({ customerId, subject: text, description: text, ...own(text, n) }),
    },
    {
      plural: 'bookings',
      event: 'booking.created',
      of: (text, n) => ({
        customerId,
        title: text,
        startAt: '2031-04-01T09:00:00.000Z',
        endAt: '2031-04-01T09:30:00.000Z',
        timezone: 'Europe/Berlin',
        notes: text,
        location: { type: 'other', value: text },
        ...own(text, n),
      }),
    },
  ]
}

/** Creates one object for each text, without the fields that are refused for it. */
async function create(form: Form, texts: readonly string[], desk: Desk, tally: Tally): Promise<Made[]> {
  const made: Made[] = []
  for (let from = 0; from < texts.length; from += 100) {
    const part = texts.slice(from, from + 100).map((text, n) => ({ text, sent: form.of(text, from + n) }))
    for (let left = part; left.length > 0; ) {
      const items = left.map(({ sent }) => sent)
      const answer = await desk.call('POST', `/v1/${form.plural}/batch`, { items })
      if (answer.status !== 200) {
        for (const { text } of left) tally.count(text, `${form.plural}: ${answer.status} ${answer.text}`)
        break
      }
      const ids = answer.json.data.flatMap(({ id }: Shown) => id ?? []).join(',')
      const read = await desk.call('GET', `/v1/${form.plural}?ids=${ids}`)
      const rows = new Map<string, Shown>(ids === '' ? [] : read.json.data.map((row: Shown) => [row.id, row]))
      const again: typeof part = []
      for (const [n, one] of left.entries()) {
        const outcome = answer.json.data[n]
        const row = rows.get(outcome.id)
        if (row !== undefined) {
          const fault = changed(one.sent, row)
          tally.count(one.text, fault === null ? null : `${form.plural}${fault}`)
          made.push({ form, ...one, row })
          continue
        }
        const { errors = [] } = outcome.problem as { errors?: readonly { pointer: string; detail: string }[] }
        const isInWords = errors.length > 0 && errors.every(({ detail }) => /\w{3}/.test(detail))
        tally.count(one.text, isInWords ? null : `${form.plural}: ${short(outcome.problem)}`, true)
        const sent = structuredClone(one.sent)
        const isLess = errors.map(({ pointer }) => removeAt(sent, stepsOf(pointer))).some(Boolean)
        if (isLess) again.push({ text: one.text, sent })
      }
      left = again
    }
  }
  return made
}

function stepsOf(pointer: string): string[] {
  const steps = pointer.split('/').slice(1)
  // In a batch a pointer may begin with the item.
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Removes the field of a pointer, or the whole where a part of it is required. Whether there was one. */
function removeAt(object: Shown, [first = '', ...rest]: readonly string[]): boolean {
  if (!Object.hasOwn(object, first)) return false
  const value = object[first]
  if (first === 'customAttributes' && rest.length > 0) return removeAt(value, rest)
  delete object[first]
  return true
}

/** Where `row` differs from what was sent, in words; null where it does not. */
function changed(sent: Shown, row: Shown, path: Path = []): string | null {
  if (typeof sent !== 'object' || sent === null)
    return sent === row ? null : ` ${path.join('.')} is ${short(row)}`
  for (const [name, value] of Object.entries(sent)) {
    const fault = changed(value, row?.[name], [...path, name])
    if (fault !== null) return fault
  }
  return null
}

/** Finds customers by each filter that takes a text, and reads by an id that is none. */
async function query(made: readonly Made[], desk: Desk): Promise<Tally> {
  const tally = new Tally()
  for (const { text, sent, row, form } of made) {
    if (form.plural !== 'customers') continue
    const filters: Record<string, string> = {}
    if (sent.externalId) filters.externalId = sent.externalId
    if (sent.tags?.length > 0) filters.tag = sent.tags[0]
    if (sent.customAttributes?.value)
      filters.customAttribute = `value:${JSON.stringify(sent.customAttributes.value)}`
    for (const [name, value] of Object.entries(filters)) {
      const {
        status,
        json,
        text: body,
      } = await desk.call('GET', `/v1/customers?${new URLSearchParams({ [name]: value, limit: '100' })}`)
      const isFound = status === 200 && json.data.some(({ id }: Shown) => id === row.id)
      tally.count(text, isFound ? null : `${name} does not find it: ${status} ${body.slice(0, 200)}`)
    }
    // A search of words, and an id: any answer but an error of the service.
    for (const path of [
      `/v1/customers?${new URLSearchParams({ q: text })}`,
      `/v1/customers/${encodeURIComponent(text)}`,
    ]) {
      const { status, text: body } = await desk.call('GET', path)
      const isRefused = status >= 400 && status < 500 && /"detail":"[^"]{8,}/.test(body)
      tally.count(text, status === 200 || isRefused ? null : `${path}: ${status} ${body}`, isRefused)
    }
  }
  return tally
}

const quote = (cell: string) => `"${cell.replaceAll('"', '""')}"`

/** By CSV, and by lines of JSON. */
async function imports(texts: readonly string[], desk: Desk): Promise<Tally> {
  const tally = new Tally()
  for (const [n, file] of ['texts.csv', 'texts.ndjson'].entries()) {
    const path = join(desk.scratch, file)
    const prefix = `import ${n} ${tally.tried} ${Math.random()} `
    const rows = texts.map((text, at) => ({
      externalId: `${prefix}${at}`,
      name: text,
      company: text,
      customAttributes: { value: text },
    }))
    const lines =
      n === 0
        ? [
            'externalId,name,company,customAttributes.value',
            ...rows.map(({ externalId, name, company, customAttributes: { value } }) =>
              [externalId, name, company, value].map(quote).join(','),
            ),
          ]
        : rows.map((row) => JSON.stringify(row))
    await writeFile(path, `${lines.join('\n')}\n`)
    const { code, stderr, stdout } = await desk.run('import', path, '--kind', 'customers')
    if (code !== 0 && code !== 3) {
      tally.count(file, `exit code ${code}: ${stderr}`)
      continue
    }
    const found = new Map((await desk.rows('customers')).map((row) => [row.externalId, row]))
    for (const sent of rows) {
      const row = found.get(sent.externalId)
      if (row === undefined) {
        const isSaid = stderr.includes('line') || stdout.includes('rejected')
        tally.count(sent.name, isSaid ? null : `${file}: it is not there, and nothing says so`, true)
        continue
      }
      // An empty cell leaves its field out.
      const isEmptyCell = n === 0 && sent.name === ''
      const fault = isEmptyCell ? null : changed(sent, row)
      tally.count(sent.name, fault === null ? null : `${file}${fault}`)
    }
  }
  return tally
}

/** A copy in SQLite, an export in lines of JSON, and the files of `deskwire export`. */
async function mirrors(made: readonly Made[], desk: Desk): Promise<Tally> {
  const tally = new Tally()
  const directory = join(desk.scratch, `mirror${Math.random()}`)
  await mkdir(directory)
  const store = join(directory, 'copy.db')
  const lines = join(directory, 'lines')
  for (const words of [
    ['mirror', 'run', '--to', store, '--once'],
    ['mirror', 'verify', '--to', store],
    ['mirror', 'run', '--to', `ndjson:${lines}`],
  ]) {
    const { code, stderr } = await desk.run(...words)
    if (code !== 0) tally.count(words.join(' '), `exit code ${code}: ${stderr}`)
  }
  using database = new DatabaseSync(store, { readOnly: true })
  for (const [plural, ofKind] of Map.groupBy(made, ({ form }) => form.plural)) {
    const copied = new Map(
      database
        .prepare(`SELECT * FROM ${plural}`)
        .all()
        .map((row: Shown) => [row.id, row]),
    )
    const exported = new Map<string, Shown>()
    for (const line of (await readFile(join(lines, `${plural}.ndjson`), 'utf8')).split('\n')) {
      if (line === '') continue
      const row = JSON.parse(line)
      exported.set(row.id, row)
    }
    for (const { text, sent, row } of ofKind) {
      const kept = copied.get(row.id)
      const faults = [
        changed(sent, exported.get(row.id)),
        changed(sent, kept === undefined ? {} : JSON.parse(kept._body)),
        ...['name', 'company', 'subject', 'body', 'title', 'notes', 'description']
          .filter((name) => typeof sent[name] === 'string')
          .map((name) => {
            const value = kept?.[name]
            return value === sent[name] ? null : ` column ${name} is ${short(value)}`
          }),
      ]
      const fault = faults.find((one) => one !== null)
      tally.count(text, fault === undefined ? null : `${plural}${fault}`)
    }
  }
  return tally
}

async function deliveries(
  made: readonly Made[],
  hook: { readonly name: string; readonly secret: string },
  desk: Desk,
): Promise<Tally> {
  const tally = new Tally()
  const expected = made.filter(({ form }) => form.event !== null)
  const deliveredOf = () => new Set(desk.hooks.of(hook.name).map(({ eventId }) => eventId)).size
  // As long as more arrive.
  for (let before = -1; deliveredOf() > before && deliveredOf() < expected.length; ) {
    before = deliveredOf()
    await eventually('more are delivered', () => deliveredOf() > before).catch(() => {})
  }
  const arrived = new Map<string, Shown>()
  for (const { body, signature } of desk.hooks.of(hook.name)) {
    const headers = { 'x-service-signature': signature }
    const event: Shown = await verify(body, headers, hook.secret, { tolerance: 100_000 })
    arrived.set(event.data.id, event.data)
  }
  for (const { text, sent, row, form } of expected) {
    const fault = changed(sent, arrived.get(row.id))
    tally.count(text, fault === null ? null : `${form.event}${fault}`)
  }
  return tally
}

async function tools(texts: readonly string[], conversationId: string, desk: Desk): Promise<Tally> {
  const tally = new Tally()
  await using client = await mcpClient(desk.url, desk.token)
  for (const text of texts) {
    const { isError, structuredContent, content } = await client.callTool({
      name: 'add_note',
      arguments: { conversationId, body: text },
    })
    if (isError) {
      const [{ text: said = '' } = {}] = content as { text?: string }[]
      tally.count(text, /\w{3}/.test(said) ? null : 'it is refused without words', true)
      continue
    }
    const { note } = structuredContent as Shown
    const { json } = await desk.call('GET', `/v1/notes/${note.id}`)
    const isKept = note.body === text && json.body === text
    tally.count(text, isKept ? null : `the note has ${short(note.body)} and is ${short(json.body)}`)
  }
  return tally
}

async function client(texts: readonly string[], desk: Desk): Promise<Tally> {
  const tally = new Tally()
  for (const text of texts) {
    try {
      const { id } = await desk.sdk.customers.create({ name: text, customAttributes: { value: text } })
      const { name, customAttributes } = await desk.sdk.customers.get(id)
      const isKept = name === text && customAttributes.value === text
      tally.count(text, isKept ? null : `it is ${short([name, customAttributes])}`)
    } catch (error) {
      tally.count(text, /\w{3}/.test((error as Error).message) ? null : 'no words', true)
    }
  }
  return tally
}

/** The thread of a conversation, and its customers: the texts are shown, and nothing of them runs. */
async function screens(
  texts: readonly string[],
  customerId: string,
  conversationId: string,
  desk: Desk,
): Promise<Tally> {
  const tally = new Tally()
  const browser = await startBrowser()
  try {
    const { page, complaints: seen, requests } = await watchedPage(browser)
    const dialogs: string[] = []
    page.on('dialog', (dialog) => {
      dialogs.push(`dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    const signIn = `sessionStorage.setItem('deskwire.key', ${JSON.stringify(desk.token)})`
    await page.addInitScript({ content: `if (location.pathname.startsWith('/console')) ${signIn}` })
    const shown = texts.filter((text) => isStorable(text))
    // Many in one ticket, each on a line of its own.
    for (let from = 0; from < shown.length; from += 50) {
      const part = shown.slice(from, from + 50)
      const end = `end of ${part.length} texts from ${from}`
      const description = [...part, end].join('\n')
      const { json } = await desk.call('POST', '/v1/tickets', { customerId, subject: 'Texts', description })
      await page.goto(`${desk.url}/console/tickets/${json.id}`)
      await page.getByText(end).waitFor({ timeout: 100_000 })
      const all = visible(await page.locator('body').innerText())
      for (const text of part) {
        const isShown = all.includes(visible(text))
        tally.count(text, isShown ? null : `it is not on the screen of the ticket ${json.id}`)
      }
    }
    // Screens of names, and of bodies of every type.
    for (const address of [
      '/customers',
      '/tickets',
      `/customers/${customerId}`,
      `/conversations/${conversationId}`,
    ]) {
      await page.goto(`${desk.url}/console${address}`)
      await eventually(
        'the screen is there',
        async () => (await page.locator('body').innerText()).length > 500,
      )
    }
    // A page that is left drops what it was loading.
    const faults = seen.filter((complaint) => !complaint.startsWith('failed: '))
    const others = requests.filter((url) => !url.startsWith(desk.url) && !/^(data|blob):/.test(url))
    for (const complaint of [...faults, ...dialogs, ...others.map((url) => `it asks ${url}`)])
      tally.count('the console', complaint)
  } catch (error) {
    tally.count('the console', String(error))
  } finally {
    await browser.close()
  }
  return tally
}

/** As a browser lays it out: white space is one space, and what has no width is left out. */
function visible(text: string): string {
  return text.replaceAll(/[\s\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim()
}

function lengthOf(text: string): number {
  return [...text].length
}
