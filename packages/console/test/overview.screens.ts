/** The overview: what it counts is what happened, as bars and as a table. */
import { expect, test } from 'vitest'
import { makeCustomer } from '../../testbed/desk.ts'
import { consoleBench } from './harness.ts'

const bench = consoleBench()

test.each(['light', 'dark'] as const)(
  'it shows what was delivered, failed, waits and changed, in %s',
  async (scheme) => {
    const { api } = await bench().seeded()
    const { page, audit } = await bench().open(api, '/', { scheme })
    const figure = (name: string) => page.locator('dl > div', { hasText: name }).locator('strong')
    await expect.poll(() => figure('Delivered').innerText()).toBe('3')
    await expect.poll(() => figure('Failed attempts').innerText()).toBe('3')
    await expect.poll(() => figure('Waiting').innerText()).toBe('3')
    await page.getByRole('img', { name: /Attempts per minute/ }).waitFor()
    await page.getByRole('img', { name: 'customer: 3 changed' }).waitFor()
    expect(await page.getByRole('listitem').filter({ hasText: 'localhost' }).first().innerText()).toContain(
      'Failing',
    )
    await audit()
    await page.getByRole('button', { name: 'As a table' }).click()
    await page.getByRole('cell', { name: '3' }).first().waitFor()
    await audit()
  },
)

test('it goes on by itself, and its span stands in the address', async () => {
  const { api } = await bench().seeded()
  const { page } = await bench().open(api, '/')
  const delivered = page.locator('dl > div', { hasText: 'Delivered' }).locator('strong')
  await expect.poll(() => delivered.innerText()).toBe('3')
  await makeCustomer(api, { name: 'Hedy Lamarr' })
  await bench().engine.runDue()
  await expect.poll(() => delivered.innerText(), { timeout: 20_000 }).toBe('4')
  await page.getByRole('button', { name: 'Day' }).click()
  await page.getByRole('heading', { name: 'Attempts per hour' }).waitFor()
  expect(new URL(page.url()).search).toBe('?span=day')
})

test('an organization with nothing is told how it begins', async () => {
  const api = await bench().service.newOrganization('Nothing yet')
  const { page, audit } = await bench().open(api, '/', { width: 360 })
  await page.getByText('No endpoints yet').waitFor()
  await audit()
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
})

test.each([360, 768, 1440, 2560])('nothing is cut off at %d pixels', async (width) => {
  const { api, failing } = await bench().seeded()
  for (const address of ['/', '/endpoints', `/endpoints/${failing.id}`, '/deliveries']) {
    const { page, context } = await bench().open(api, address, { width })
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), address).toBe(true)
    await context.close()
  }
})
