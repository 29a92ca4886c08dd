/** Chromium, and what its pages did. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'

const names = ['chromium', 'chromium-browser', 'google-chrome']

/** Starts Chromium: that of CHROMIUM_PATH, or the first on the PATH. */
export function startBrowser(): Promise<Browser> {
  const directories = (process.env.PATH ?? '').split(delimiter)
  const installed = names.flatMap((name) => directories.map((directory) => join(directory, name)))
  const executablePath = process.env.CHROMIUM_PATH ?? installed.find(isExecutable)
  if (executablePath === undefined) {
    throw new Error('This test needs Chromium: apt-get install chromium, or set CHROMIUM_PATH to one.')
  }
  // Chromium refuses its sandbox to root, as which containers run tests.
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] })
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** In order. */
interface Watched {
  readonly page: Page
  readonly requests: readonly string[]
  /** Failed requests, responses from 400 on, errors of scripts, errors and warnings on the console. */
  readonly complaints: readonly string[]
}

/** In a context of its own. */
export async function watchedPage(browser: Browser, scheme: 'light' | 'dark' = 'light'): Promise<Watched> {
  const context = await browser.newContext({ colorScheme: scheme, viewport: { width: 1280, height: 900 } })
  const page = await context.newPage()
  const requests: string[] = []
  const complaints: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`))
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()}: ${response.url()}`)
  })
  page.on('pageerror', (error) => complaints.push(`script: ${error.message}`))
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`console: ${message.text()}`)
  })
  return { page, requests, complaints }
}
