/** Whether pages are whole in a browser: accessible, wide and narrow, no other host, under their policy. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { expect } from 'vitest'
import { watchedPage } from '../../testbed/browser.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Accessibility findings of any severity. */
export async function findings(page: Page): Promise<unknown> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe)
  return page.evaluate(`axe.run().then(({ violations }) =>
    violations.map(({ id, nodes }) => [id, nodes.map(({ target, failureSummary }) => [target.join(' '), failureSummary])]))`)
}

const overflow = (page: Page) => page.evaluate('document.documentElement.scrollWidth - window.innerWidth')

/** Fails unless the pages at these paths are whole. */
export async function expectWhole(
  browser: Browser,
  url: string,
  scheme: 'light' | 'dark',
  paths: readonly string[],
): Promise<void> {
  const { page, requests, complaints } = await watchedPage(browser, scheme)
  for (const path of paths) {
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.goto(url + path, { waitUntil: 'networkidle' })
    for (const details of await page.locator('main details').all()) {
      await details.evaluate((element) => element.setAttribute('open', ''))
    }
    expect({ path, found: await findings(page) }).toEqual({ path, found: [] })
    await page.setViewportSize({ width: 360, height: 740 })
    expect({ path, overflow: await overflow(page) }).toEqual({ path, overflow: 0 })
    expect({ path, found: await findings(page) }).toEqual({ path, found: [] })
  }
  const paper = await page.evaluate('getComputedStyle(document.documentElement).backgroundColor')
  expect(paper).toBe(scheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(21, 26, 29)')
  expect(requests.filter((asked) => !asked.startsWith(`${url}/`))).toEqual([])
  expect(complaints).toEqual([])

  const outcome = await page.evaluate(() =>
    fetch('http://127.0.0.2:9/').then(
      () => 'sent',
      () => 'refused',
    ),
  )
  expect(outcome).toBe('refused')
  expect(complaints.join('\n')).toContain('Content Security Policy')
}
