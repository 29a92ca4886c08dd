/**
 * The console in Chromium: size and time of a first load, and whether its screens stay fast and small during an hour of
 * a hundred deliveries a second. Browser, service, worker, database and receiver share the machine.
 */
import { execFile } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { type Client, createClient } from '@deskwire/sdk'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { startBrowser } from '../../packages/testbed/browser.ts'
import { type DeliveringInstallation, installFor } from '../harness/installation.ts'
import { percentiles } from '../harness/load.ts'
import { type BenchReceiver, startReceiver } from '../harness/receiver.ts'
import { register } from '../harness/register.ts'
import { type Result, type Run, summarize } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'

const rate = 100
/** Each change is delivered to all of them. */
const endpoints = 5
const changesEach = rate / endpoints
const customers = 2_000
const hour = 3_600

export async function* consoleScreens({ runs, only }: Scale): AsyncGenerator<Result> {
  const builder = fileURLToPath(new URL('../../tools/build-pages.ts', import.meta.url))
  await promisify(execFile)(process.execPath, [builder])
  await using installation = await installFor(startReceiver, ['--role', 'all'])
  await using desk = await populated(installation)
  if ('loads'.includes(only)) yield* loads(desk, runs)
  if ('frames'.includes(only)) yield* frames(desk)
  if ('heap'.includes(only)) yield* heap(desk)
}

interface Desk extends AsyncDisposable {
  readonly url: string
  readonly client: Client
  readonly receiver: BenchReceiver
  readonly ids: readonly string[]
  readonly browser: Browser
  /** A tab in a context of its own, with an empty cache, signed in by default. */
  tab(options?: { readonly isSignedIn?: boolean; readonly isFast?: boolean }): Promise<Page>
}

/** An organization with customers, whose endpoints subscribe to their changes. */
async function populated(installation: DeliveringInstallation<BenchReceiver>): Promise<Desk> {
  const { service, receiver } = installation
  const organization = await installation.newOrganization()
  const client = createClient({ baseUrl: `${service.url}/v1`, apiKey: organization.token })
  const items = (from: number) =>
    Array.from({ length: 1_000 }, (_, n) => ({ ...customer(0), externalId: `c${from + n}` }))
  const ids: string[] = []
  for (let from = 0; from < customers; from += 1_000) {
    const { data } = await client.customers.batch(items(from))
    ids.push(...data.flatMap((item) => ('id' in item ? [String(item.id)] : [])))
  }
  await register(service.url, organization, receiver, { count: endpoints, events: ['customer.updated'] })
  const browser = await startBrowser()
  return {
    url: `${service.url}/console`,
    client,
    receiver,
    ids,
    browser,
    async tab({ isSignedIn = true, isFast = false } = {}) {
      const context = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        serviceWorkers: 'block',
      })
      if (isSignedIn) await signIn(context, organization.token)
      if (isFast) await context.clock.install()
      // A busy machine is slow, and not broken.
      context.setDefaultTimeout(120_000)
      return context.newPage()
    },
    async [Symbol.asyncDispose]() {
      await browser.close()
    },
  }
}

function signIn(context: BrowserContext, token: string): Promise<unknown> {
  const content = `if (location.pathname.startsWith('/console')) sessionStorage.setItem('deskwire.key', ${JSON.stringify(token)})`
  return context.addInitScript({ content })
}

/** Different with each change, and of a usual size. */
function customer(change: number) {
  return { name: 'Ada Lovelace', company: `Company ${change}`, customAttributes: { notes: 'x'.repeat(300) } }
}

/** What has to be there before the user can act. */
const usable = {
  'sign-in': `document.querySelector('main form input:not([disabled])') !== null`,
  overview: `document.querySelector('main dl strong')?.textContent.trim() > '' && document.querySelector('main figure, main svg[role=img]') !== null
    && document.querySelector('[aria-busy=true]') === null`,
} as const

async function* loads(desk: Desk, runs: number): AsyncGenerator<Result> {
  for (const screen of ['sign-in', 'overview'] as const) {
    const times: Run[] = []
    let weighed = { files: 0, bytes: 0 }
    for (let run = 0; run < Math.max(runs, 5); run++) {
      const loaded = await load(desk, screen)
      times.push({ value: loaded.usableAt })
      weighed = loaded
    }
    const { files, bytes } = weighed
    const conditions = { screen, cache: 'empty' }
    yield summarize(
      `console: script of a first load, ${screen}`,
      'KB',
      { ...conditions, files, as: 'gzip' },
      [{ value: bytes / 1_000 }],
    )
    yield summarize(`console: from the address to a usable ${screen}`, 'ms', conditions, times)
  }
}

/** Loads a screen with an empty cache; returns the script bytes (gzip), and when the page was usable. */
async function load({ tab, url }: Desk, screen: keyof typeof usable) {
  const page = await tab({ isSignedIn: screen === 'overview' })
  // Usable: the content is there and rendered, and no script blocks the page.
  await page.addInitScript({
    content: `{
      const long = []
      new PerformanceObserver((list) => long.push(...list.getEntries())).observe({ type: 'longtask', buffered: true })
      const look = () => {
        if (!(${usable[screen]})) return requestAnimationFrame(look)
        requestAnimationFrame(() => setTimeout(() => {
          const drawn = performance.now()
          setTimeout(() => (window.usableAt = Math.max(drawn, ...long.map((task) => task.startTime + task.duration))), 500)
        }))
      }
      requestAnimationFrame(look)
    }`,
  })
  await page.goto(url)
  await page.waitForFunction(() => Reflect.get(globalThis, 'usableAt') !== undefined)
  const usableAt = (await page.evaluate('window.usableAt')) as number
  // Includes what loads later.
  await page.waitForLoadState('networkidle')
  const scripts = (await page.evaluate(
    `performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.endsWith('.js'))`,
  )) as string[]
  await page.context().close()
  const sizes = await Promise.all(
    scripts.map(async (script) => gzipSync(await (await fetch(script)).bytes()).length),
  )
  return { usableAt, files: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) }
}

/** Seconds for which frames are counted. */
const watchedFor = 20

async function* frames(desk: Desk): AsyncGenerator<Result> {
  const blank = await framesOf(desk, 'about:blank', async () => 0)
  for (const [screen, path, use] of [
    ['the overview', '/', deliveredOf],
    ['deliveries', '/deliveries', readNews],
  ] as const) {
    const stop = changing(desk)
    const seen = await framesOf(desk, `${desk.url}${path}`, use)
    const made = await stop()
    const { perSecond, p50, p99, longest, used } = seen
    if (used === 0) throw new Error(`nothing came in on ${screen}`)
    const conditions = {
      'deliveries/s': Math.round((made * endpoints) / (watchedFor + warmUp)),
      seconds: watchedFor,
      'longest task of the page in ms': Math.round(longest),
      bare: 'an empty page, with nothing coming in',
    }
    yield summarize(`console: frames of ${screen} at 100 deliveries/s`, 'frames/s', conditions, [
      { value: perSecond, p50, p99, baseline: blank.perSecond },
    ])
  }
}

/** Seconds before frames are counted. */
const warmUp = 3

async function framesOf(desk: Desk, address: string, use: (page: Page) => Promise<number>) {
  const page = await desk.tab()
  await page.goto(address)
  await delay(warmUp * 1_000)
  await page.evaluate(`{
    window.drawn = []
    window.longest = 0
    new PerformanceObserver((list) => {
      for (const task of list.getEntries()) window.longest = Math.max(window.longest, task.duration)
    }).observe({ type: 'longtask' })
    const step = (at) => { window.drawn.push(at); requestAnimationFrame(step) }
    requestAnimationFrame(step)
  }`)
  const until = performance.now() + watchedFor * 1_000
  let used = 0
  while (performance.now() < until) {
    used += await use(page)
    await delay(Math.min(1_000, Math.max(0, until - performance.now())))
  }
  const drawn = (await page.evaluate('window.drawn')) as number[]
  const longest = (await page.evaluate('window.longest')) as number
  await page.context().close()
  const between = drawn.slice(1).map((at, n) => at - (drawn[n] ?? at))
  const seconds = ((drawn.at(-1) ?? 0) - (drawn[0] ?? 0)) / 1_000
  return { perSecond: between.length / seconds, longest, used, ...percentiles(between) }
}

/** The overview's number of delivered events. */
async function deliveredOf(page: Page): Promise<number> {
  return Number((await page.locator('main dl strong').first().innerText()).replaceAll(',', ''))
}

/** Shows new rows and scrolls, as a user does; returns how many were new. */
async function readNews(page: Page): Promise<number> {
  const news = page.getByRole('button', { name: /new$/ })
  const count = (await news.isVisible()) ? Number.parseInt(await news.innerText(), 10) : 0
  if (count > 0) await news.click()
  await page.mouse.wheel(0, 300)
  return count
}

/** How many changes the explorer has read. */
async function changesOf(page: Page): Promise<number> {
  const read = page.locator('dl > div', { hasText: 'Changes read' }).locator('dd')
  return Number((await read.innerText()).replaceAll(',', ''))
}

/** Changes twenty customers a second until it is stopped, which returns the number. */
function changing({ client, ids }: Desk): () => Promise<number> {
  let isStopped = false
  let made = 0
  const began = performance.now()
  const running = (async () => {
    while (!isStopped) {
      const due = began + (made * 1_000) / changesEach
      await delay(Math.max(0, due - performance.now()))
      await client.customers.update(ids[made % ids.length] ?? '', customer(++made))
    }
    return made
  })()
  return () => {
    isStopped = true
    return running
  }
}

/** Milliseconds by which the page's clock jumps: each screen has looked for changes by then. */
const stride = 2_000

async function* heap(desk: Desk): AsyncGenerator<Result> {
  const { client, receiver, url } = desk
  const screens = await Promise.all(
    (
      [
        ['the overview', '/', deliveredOf],
        ['deliveries', '/deliveries', readNews],
        ['the sync explorer with a copy', '/sync-explorer', changesOf],
      ] as const
    ).map(async ([name, path, use]) => {
      const page = await desk.tab({ isFast: true })
      await page.goto(`${url}${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      if (path === '/sync-explorer') await page.getByRole('button', { name: 'Make a copy' }).click()
      return { name, use, page, used: 0, before: Number.NaN, most: 0 }
    }),
  )
  for (const screen of screens) screen.before = await heldBy(screen.page)
  await receiver.reset(false)
  const strides = (hour * 1_000) / stride
  const changesAStride = (changesEach * stride) / 1_000
  for (let n = 0; n < strides; n++) {
    const items = Array.from({ length: changesAStride }, (_, at) => {
      const change = n * changesAStride + at
      return { ...customer(change + 1), externalId: `c${change % customers}` }
    })
    await client.customers.upsert(items)
    const deliveries = (n + 1) * changesAStride * endpoints
    while ((await receiver.tell()).received < deliveries) await delay(5)
    await Promise.all(screens.map(({ page }) => page.clock.fastForward(stride)))
    // Used as by somebody who looks up every half minute.
    if (n % 15 === 14) for (const screen of screens) screen.used += await screen.use(screen.page)
    if (n % (strides / 12) === 0)
      for (const screen of screens) screen.most = Math.max(screen.most, await heldBy(screen.page))
  }
  for (const screen of screens) {
    if (screen.used === 0) throw new Error(`nothing came in on ${screen.name}`)
    const value = await heldBy(screen.page)
    const conditions = {
      deliveries: strides * changesAStride * endpoints,
      'changed customers': customers,
      'before, in MB': Math.round(screen.before),
      'at most of 12 looks, in MB': Math.round(Math.max(value, screen.most)),
      time: 'an hour of the page, as fast as they are delivered',
    }
    yield summarize(`console: heap of ${screen.name}, after an hour of 100 deliveries/s`, 'MB', conditions, [
      { value },
    ])
    await screen.page.context().close()
  }
}

/** Memory of the page after a garbage collection, in MB: scripts, buffers and document. */
async function heldBy(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.enable')
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize, embedderHeapUsedSize, backingStorageSize } = await session.send('Runtime.getHeapUsage')
  await session.detach()
  return (usedSize + embedderHeapUsedSize + backingStorageSize) / 1e6
}
