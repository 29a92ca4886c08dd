/**
 * The console as people have it: in Chromium, at a real service on a real database, with receivers on the loopback. What a page
 * complains of, and what its policy stops, fails the test that opened it.
 */
import axe from 'axe-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import type { AppOptions } from '../../service/src/app.ts'
import { systemClock } from '../../service/src/kernel/timestamps.ts'
import { startBrowser } from '../../testbed/browser.ts'
import { makeCustomer } from '../../testbed/desk.ts'
import { type TestEngine, testEngine } from '../../testbed/engine.ts'
import { makeWebhook } from '../../testbed/hooks.ts'
import { answer, type Receiver } from '../../testbed/receiver.ts'
import { createBench } from '../../testbed/sending.ts'
import { type Api, type TestService, testService } from '../../testbed/service.ts'

export interface Bench {
  readonly service: TestService
  readonly engine: TestEngine['engine']
  /** A receiver that the service trusts, and its address. */
  receiver(): Promise<{ readonly receiver: Receiver; readonly url: string }>
  /** An organization of its own, with an endpoint that is well, one that fails, and deliveries of both. */
  seeded(): Promise<Seeded>
  /** A page that is signed in with the key of `api`, or nobody's page, at an address below /console. */
  open(api: Api | null, address: string, options?: PageOptions): Promise<ConsolePage>
}

export interface Seeded {
  readonly api: Api
  // biome-ignore lint/suspicious/noExplicitAny: as the service answered
  readonly well: any
  // biome-ignore lint/suspicious/noExplicitAny: as the service answered
  readonly failing: any
  readonly wellReceiver: Receiver
  readonly failingReceiver: Receiver
}

interface PageOptions {
  readonly scheme?: 'light' | 'dark'
  readonly width?: number
  readonly height?: number
  /** By a finger instead of a mouse. */
  readonly isTouched?: boolean
  /** Answers from 400 on that belong to the test: `404`. */
  readonly expected?: readonly number[]
  /** The service goes away: messages of the browser about that belong to the test. */
  readonly goesAway?: boolean
}

export interface ConsolePage {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors of scripts, warnings, failed requests, answers that were not expected, what the policy stopped. */
  readonly complaints: readonly string[]
  /** Fails with what axe finds, of any severity. */
  audit(): Promise<void>
}

/** To be called once, at the top of a file: one service and one browser for all of its tests. */
export function consoleBench(
  options: Partial<Pick<AppOptions, 'consoleFrameAncestors' | 'clock'>> = {},
): () => Bench {
  let bench: Bench | undefined
  let browser: Browser | undefined
  let service: TestService | undefined
  const hooks = createBench()
  let pages: ConsolePage[] = []

  beforeAll(async () => {
    ;[browser, service] = await Promise.all([startBrowser(), testService(options)])
    const send = hooks.sender().send
    const { engine } = testEngine(service, options.clock ?? systemClock, { send })
    bench = { service, engine, receiver, seeded, open }
  })

  afterAll(async () => {
    const complaints = pages.flatMap((page) => page.complaints)
    pages = []
    await browser?.close()
    await hooks.close()
    await service?.[Symbol.asyncDispose]()
    expect(complaints).toEqual([])
  })

  async function receiver(): Promise<{ receiver: Receiver; url: string }> {
    const started = await hooks.receiver()
    return { receiver: started, url: `https://localhost:${started.port}/hooks` }
  }

  async function seeded(): Promise<Seeded> {
    const { service, engine } = there(bench)
    const api = await service.newOrganization('Analytical Engines')
    const [good, bad] = await Promise.all([receiver(), receiver()])
    bad.receiver.will(answer(500, '{"error":"the database of the receiver is away"}'))
    const events = ['customer.created', 'customer.updated', 'ticket.created', 'ticket.status_changed']
    const well = await makeWebhook(api, { url: good.url, events, description: 'Warehouse' })
    const failing = await makeWebhook(api, { url: bad.url, events, description: 'Billing' })
    for (const name of ['Ada Lovelace', 'Grace Hopper', 'Mary Somerville']) await makeCustomer(api, { name })
    await engine.runDue()
    return { api, well, failing, wellReceiver: good.receiver, failingReceiver: bad.receiver }
  }

  async function open(api: Api | null, address: string, options: PageOptions = {}): Promise<ConsolePage> {
    const { scheme = 'light', width = 1280, height = 800, expected = [], goesAway = false } = options
    const { isTouched = false } = options
    const { service } = there(bench)
    const context = await there(browser).newContext({
      colorScheme: scheme,
      viewport: { width, height },
      locale: 'en-GB',
      timezoneId: 'Europe/London',
      reducedMotion: 'reduce',
      hasTouch: isTouched,
      isMobile: isTouched,
    })
    // A machine that is busy with other things is slow, and not broken.
    context.setDefaultTimeout(100_000)
    const complaints: string[] = []
    await context.exposeBinding(
      'reportViolation',
      (_, what: string) => void complaints.push(`policy: ${what}`),
    )
    await context.addInitScript({ content: reportViolations })
    if (api !== null) {
      // Of the first page of a tab: who has signed out stays so.
      const signIn = `if (sessionStorage.length === 0) sessionStorage.setItem('deskwire.key', ${JSON.stringify(api.token)})`
      await context.addInitScript({
        content: `if (location.pathname.startsWith('/console') && !window.name) { window.name = 'signed in'; ${signIn} }`,
      })
    }
    const page = await context.newPage()
    page.on('request', (request) => {
      if (!request.url().startsWith(`${service.url}/`)) complaints.push(`elsewhere: ${request.url()}`)
    })
    page.on('response', (response) => {
      const status = response.status()
      if (status >= 400 && !expected.includes(status)) complaints.push(`${status}: ${response.url()}`)
    })
    page.on('pageerror', (error) => complaints.push(`script: ${error.message}`))
    page.on('console', (message) => {
      const isOfAnswer = message.text().startsWith('Failed to load resource')
      const isOfAway = goesAway && /Cannot reach the service|preload assets/.test(message.text())
      if (['error', 'warning'].includes(message.type()) && !isOfAnswer && !isOfAway) {
        complaints.push(`console: ${message.text()}`)
      }
    })
    const opened = { page, context, complaints, audit: () => audit(page) }
    pages.push(opened)
    await page.goto(`${service.url}/console${address}`)
    return opened
  }

  return () => there(bench)
}

/** As text: types of the browser are not known here. */
const reportViolations = `document.addEventListener('securitypolicyviolation', (event) =>
  reportViolation([event.violatedDirective, event.blockedURI, event.sample].join(' ')))`

function there<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the bench is there once tests run')
  return value
}

/** Every rule of axe, best practices among them. */
async function audit(page: Page): Promise<void> {
  await page.evaluate(axe.source)
  const found = await page.evaluate(async () => {
    const { violations } = await (Reflect.get(globalThis, 'axe') as typeof axe).run()
    return violations.map(({ id, impact, nodes }) => ({
      id,
      impact,
      where: nodes.map(({ target, failureSummary }) => `${target.join(' ')}: ${failureSummary}`),
    }))
  })
  expect(found).toEqual([])
}

/** Every widely known way to smuggle a script in, as a value of any field. */
export const payloads = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "javascript:alert('1')",
  '<svg/onload=alert(1)>{{7*7}}</title></textarea>',
] as const
