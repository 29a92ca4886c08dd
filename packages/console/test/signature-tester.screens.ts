/** A delivery is pasted, and each rule says whether it holds; nothing of it is sent anywhere. */
import { signWebhook } from '@deskwire/sdk'
import { expect, test } from 'vitest'
import { makeCustomer } from '../../testbed/desk.ts'
import { makeWebhook } from '../../testbed/hooks.ts'
import type { ReceivedRequest } from '../../testbed/receiver.ts'
import type { Api } from '../../testbed/service.ts'
import { consoleBench, payloads } from './harness.ts'

const bench = consoleBench()
const secret = 'whsec_dGhlIHNlY3JldCBvZiB0aGUgdmVjdG9ycywgbi4gMS4='
const body = '{"id":"e-1","type":"ticket.created"}'

test.each(['light', 'dark'] as const)(
  'a sample is verified, and broken it is refused, in %s',
  async (scheme) => {
    const api = await bench().service.newOrganization('Analytical Engines')
    const { page, audit } = await bench().open(api, '/signature-tester', { scheme })
    await page.getByRole('heading', { level: 1, name: 'Signature tester' }).waitFor()
    await audit()
    const asked: string[] = []
    page.on('request', (request) => asked.push(`${request.url()} ${request.postData() ?? ''}`))
    await page.getByRole('button', { name: 'Try a sample' }).click()
    await expect.poll(() => page.getByText('Verified', { exact: true }).count()).toBe(2)
    await audit()
    await page.getByLabel('Raw body').fill(`${await page.getByLabel('Raw body').inputValue()}\n`)
    await expect.poll(() => page.getByText('Invalid', { exact: true }).count()).toBe(2)
    await page.getByText('line break that was not signed').first().waitFor()
    await audit()
    const given = await page.getByLabel('Secret').inputValue()
    expect(given).toMatch(/^whsec_/)
    expect(asked.filter((request) => request.includes(given.slice(6)))).toEqual([])
  },
)

test('the asymmetric signature of a delivery is verified by the published keys, and by no others', async () => {
  const api = await bench().service.newOrganization('Analytical Engines')
  const { receiver, url } = await bench().receiver()
  const signatures = ['service', 'standard', 'v1a']
  await makeWebhook(api, { url, events: ['customer.created'], signatures })
  await makeCustomer(api)
  await bench().engine.runDue()
  const [{ body, headers }] = receiver.requests as [ReceivedRequest]
  const keysOf = async ({ organizationId }: Api) => {
    const path = `/.well-known/jwks.json?organizationId=${organizationId}`
    return (await fetch(`${bench().service.url}${path}`)).text()
  }
  const { page, audit } = await bench().open(api, '/signature-tester')
  await page.getByLabel('Headers').fill(JSON.stringify(headers))
  await page.getByLabel('Raw body').fill(body.toString())
  await page.getByLabel('Public keys').fill(await keysOf(api))
  await page.getByRole('region', { name: 'Standard Webhooks, asymmetric' }).waitFor()
  await page.getByText('Verified', { exact: true }).waitFor()
  await audit()
  await page.getByLabel('Raw body').fill(`${body.toString()}\n`)
  await page.getByText('Likely: The body ends in a line break that was not signed').waitFor()
  await page.getByLabel('Raw body').fill(body.toString())
  await page.getByText('Verified', { exact: true }).waitFor()
  await page.getByLabel('Public keys').fill(await keysOf(await bench().service.newOrganization()))
  await page.getByText('Invalid', { exact: true }).waitFor()
  await page.getByLabel('Public keys').fill('{"keys":[{"kty":"RSA"}]}')
  await page.getByText('is not an Ed25519 key').waitFor()
  await page.getByLabel('Public keys').fill('none')
  await page.getByText('Not a JSON Web Key Set').waitFor()
  await audit()
})

test('each way of being wrong is named where it is, by keyboard alone', async () => {
  const api = await bench().service.newOrganization('Analytical Engines')
  const { page, audit } = await bench().open(api, '/signature-tester')
  await page.getByLabel('Secret').focus()
  await page.keyboard.insertText(secret)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.insertText(
    `X-Service-Signature: ${await signWebhook(body, secret, { timestamp: 1_769_851_800 })}`,
  )
  await page.keyboard.press('Tab')
  await page.keyboard.insertText(JSON.stringify(JSON.parse(body), null, 2))
  const rules = page.getByRole('region', { name: 'X-Service-Signature' }).getByRole('listitem')
  await expect.poll(() => rules.allInnerTexts()).toHaveLength(4)
  expect((await rules.allInnerTexts()).map((text) => text.split('\n')[0])).toEqual([
    'Headers passed',
    'Format passed',
    'Time failed',
    'Signature failed',
  ])
  await page.getByText('Likely: The body was parsed and written again').waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.insertText('1769851900')
  await page.getByLabel('Raw body').fill(body)
  await page.getByText('Verified', { exact: true }).waitFor()

  await page.getByLabel('Headers').fill('{"X-Serv')
  await page.getByText('Not valid JSON').waitFor()
  await page.getByLabel('Headers').fill('webhook-signature: v1,none')
  await page.getByText('missing: webhook-id and webhook-timestamp').waitFor()
  await page.getByLabel('Secret').fill('not base64 at all')
  await page.getByText('needs a secret in standard base64').waitFor()
  await audit()
})

test('time and signature are judged apart, and an old delivery is verified at its own time', async () => {
  const api = await bench().service.newOrganization('Analytical Engines')
  const { page, audit } = await bench().open(api, '/signature-tester')
  const timestamp = Math.floor(Date.now() / 1000) - 7200
  const old = await signWebhook(body, secret, { timestamp })
  await page.getByLabel('Headers').fill(`X-Service-Signature: ${old}`)
  await page.getByLabel('Raw body').fill(body)
  await page.getByLabel('Secret').fill(secret)
  const verdict = page.getByRole('region', { name: 'X-Service-Signature' }).getByRole('status')
  await verdict
    .getByText(
      /^The signature fits this secret\. It was signed 2 h( \d+ s)? ago: a receiver refuses it after 300 s\.$/,
    )
    .waitFor()
  await page.getByText('Too old', { exact: true }).waitFor()
  await audit()
  await page.getByLabel('Secret').fill('whsec_b3RoZXI=')
  await verdict.getByText(/^No signature fits\. .+ It was signed 2 h/).waitFor()
  await page.getByText('Invalid', { exact: true }).waitFor()
  await audit()
  await page.getByRole('button', { name: 'Use the time of the delivery' }).press('Enter')
  const time = page.getByLabel('Current time')
  expect(await time.inputValue()).toBe(String(timestamp))
  expect(await time.and(page.locator(':focus')).isVisible()).toBe(true)
  await verdict.getByText(/^No signature fits\. [^.]+\.$/).waitFor()
  await page.getByLabel('Secret').fill(secret)
  await page.getByText('Verified', { exact: true }).waitFor()
  await page
    .getByLabel('Headers')
    .fill(`X-Service-Signature: ${await signWebhook(body, secret, { timestamp: timestamp + 600 })}`)
  await verdict.getByText(/^The signature fits this secret\. Its time is 10 min in the future/).waitFor()
})

test.each(payloads)('%s is text', async (payload) => {
  const api = await bench().service.newOrganization('Analytical Engines')
  const { page } = await bench().open(api, '/signature-tester')
  await page.getByLabel('Secret').fill(payload)
  await page.getByLabel('Headers').fill(`X-Service-Signature: ${payload}\n${payload}: ${payload}`)
  await page.getByLabel('Raw body').fill(payload)
  await page.getByText('Invalid', { exact: true }).first().waitFor()
})
