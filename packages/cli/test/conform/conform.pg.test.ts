/** The conformance kit: it holds against our service, and every rule of it notices a deployment that breaks it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../../../testbed/repository.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { createDesk } from '../../src/conform/desk.ts'
import { rules, tryRules } from '../../src/conform/run.ts'
import { runHere } from '../run-here.ts'
import { faults } from './faults.ts'
import { startProxy } from './proxy.ts'

const shared = sharedService()

/** Those of the rules that do not hold there, with what was seen. */
async function broken(url: string, token: string, tried = rules): Promise<Record<string, string | null>> {
  const desk = createDesk(`${url}/v1`, token)
  const findings = await tryRules(desk, () => {}, tried)
  expect(findings).toHaveLength(tried.length)
  expect(await desk.cleanUp()).toEqual([])
  return Object.fromEntries(findings.filter(({ holds }) => !holds).map(({ rule, seen }) => [rule, seen]))
}

test('every rule holds against our service, while others write, and nothing stays behind', async () => {
  const api = await shared().newOrganization()
  const other = await api.post('/v1/customers', { name: 'Not ours' })
  let writing = true
  const writer = (async () => {
    while (writing) {
      const { json } = await api.post('/v1/customers', { name: 'Another' })
      await api.post('/v1/tickets', { customerId: json.id, subject: 'Another' })
      await api.delete(`/v1/customers/${json.id}`)
    }
  })()
  try {
    expect(await broken(shared().url, api.token)).toEqual({})
  } finally {
    writing = false
    await writer
  }
  const left = (await api.get('/v1/customers')).json.data.map(({ id }: { id: string }) => id)
  expect(left).toEqual([other.json.id])
})

test.concurrent.each(Object.entries(faults))('it notices: %s', async (_, { fault, rule }) => {
  const api = await shared().newOrganization()
  await using proxy = await startProxy(shared().url, fault)
  const found = await broken(
    proxy.url,
    api.token,
    rules.filter(({ id }) => id === rule),
  )
  expect(Object.keys(found)).toEqual([rule])
  expect(found[rule]).toMatch(/\S/)
})

test('every rule has a deployment that breaks it, an id of its own, and a place in the specification', () => {
  const noticed = new Set(Object.values(faults).map(({ rule }) => rule))
  expect(rules.map(({ id }) => id).filter((id) => !noticed.has(id))).toEqual([])
  expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length)
  const text = readFileSync(join(root, 'docs/specification.md'), 'utf8')
  const headings = new Set([...text.matchAll(/^#+ (?:[\d.]+ )?(.*)$/gm)].map(([, heading]) => heading))
  expect(rules.filter(({ section }) => !headings.has(section))).toEqual([])
})

test('as a command it prints a table, exits with what it found, and says what it cannot do', async () => {
  const api = await shared().newOrganization()
  const key = ['--key', api.token]
  const good = await runHere(['conform', shared().url, ...key, '--keep'])
  expect(good).toMatchObject({ code: 0, stderr: '' })
  expect(good.stdout.match(/^holds {3}\S+ /gm)).toHaveLength(rules.length)
  expect(good.stdout).toMatch(/rules hold\.\nWhat was made is tagged conform-\w{8}\.\n$/)
  expect((await api.get('/v1/customers')).json.data).not.toEqual([])

  await using proxy = await startProxy(shared().url, faults['a sync drops removals']!.fault)
  const bad = await runHere(['conform', `${proxy.url}/v1`, ...key, '--json'])
  expect(bad).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(/\d rules? .*do not hold|of \d+ rules do not hold/),
  })
  const { findings, left } = JSON.parse(bad.stdout)
  expect(left).toEqual([])
  expect(findings.find(({ rule }: { rule: string }) => rule === 'sync.complete')).toMatchObject({
    holds: false,
    seen: expect.stringContaining('instead of'),
  })

  const said = async (...words: string[]) => {
    const { code, stdout, stderr } = await runHere(['conform', ...words])
    return { code, stdout, stderr }
  }
  const refused = (code: number, reason: string) => ({
    code,
    stdout: '',
    stderr: expect.stringContaining(reason),
  })
  expect(await said(...key)).toEqual(refused(2, 'conform needs the base address'))
  expect(await said(shared().url)).toEqual(refused(2, 'conform needs --key'))
  expect(await said('desk.example', ...key)).toEqual(refused(2, 'BASE_URL: "desk.example" is not accepted'))
  expect(await said(shared().url, '--key', 'dwk_nobody')).toEqual(refused(1, 'GET /customers answered 401'))
  expect(await said('http://127.0.0.1:1', ...key)).toEqual(
    refused(1, 'got no answer: fetch and browsers refuse'),
  )
  const reader = await shared().newKey(api.organizationId, ['customers:read', 'tickets:read'])
  const cannot = await said(shared().url, '--key', reader.token)
  expect(cannot).toMatchObject({ code: 3, stdout: expect.stringContaining('POST /customers answered 403') })
})
