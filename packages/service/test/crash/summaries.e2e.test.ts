/** Summaries by workers that are killed or stopped in the middle of a request. */
import { expect, test } from 'vitest'
import { startHooks } from '../../../testbed/arrivals.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { heldModel, startModel } from '../../../testbed/model.ts'
import { type TestService, testService } from '../../../testbed/service.ts'
import { createServices, type Services, socketUrl } from '../../../testbed/services.ts'
import { announcements, jobsOf, read, resolved } from '../../../testbed/summaries.ts'

function startWorker(
  { serve }: Services,
  { database }: TestService,
  settings: Readonly<Record<string, string>>,
) {
  return serve(['--role', 'worker', '--database-url', socketUrl(database.connection)], {
    DESKWIRE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    DESKWIRE_SUMMARY_DELAY: '50ms',
    DESKWIRE_SUMMARIZER_KEY: 'sk-secret',
    ...settings,
  })
}

test.concurrent('kill -9 in the middle of a request: the next worker writes it, and it is announced once', async () => {
  await using model = await startModel()
  await using hooks = await startHooks()
  await using service = await testService()
  await using services = createServices()
  const { pool } = service.database
  await hooks.register({ url: service.url, token: service.api.token }, 'steady', ['conversation.summarized'])
  const settings = { ...hooks.settings, DESKWIRE_SUMMARIZER: `stand-in ${model.url}` }
  const held = heldModel()
  model.will(held.behaviour)
  const { id } = await resolved(service.api, ['Where is my parcel?'])
  const first = await startWorker(services, service, settings)
  await held.hanging(1)
  expect((await first.end('SIGKILL')).code).toBe(null)
  expect(await jobsOf(service)).toMatchObject([{ id, attempts: 1 }])

  const second = await startWorker(services, service, settings)
  // Nobody waits for a lease of a minute and a half: it is over.
  await pool.query('update summary_jobs set due_at = now()')
  await held.hanging(2)
  held.release('It was about a parcel.')
  await eventually('it is announced', () => hooks.arrivals.length > 0)
  expect((await read(service.api, id)).summary).toBe('It was about a parcel.')
  await eventually('nothing is left to do', async () => (await jobsOf(service)).length === 0)
  expect(await announcements(service, service.api, id)).toBe(1)
  expect(hooks.arrivals).toHaveLength(1)
  expect(model.asked.map(({ authorization }) => authorization)).toEqual([
    'Bearer sk-secret',
    'Bearer sk-secret',
  ])
  expect((await second.end('SIGTERM')).code).toBe(0)
  expect(first.output.all + second.output.all).not.toMatch(/sk-secret|Where is my parcel/)
})

test.concurrent('SIGTERM in the middle of a request: it is given back within 15 seconds, as if never taken', async () => {
  await using model = await startModel()
  await using service = await testService()
  await using services = createServices()
  const held = heldModel()
  model.will(held.behaviour)
  const { id } = await resolved(service.api)
  const worker = await startWorker(services, service, { DESKWIRE_SUMMARIZER: `stand-in ${model.url}` })
  await held.hanging(1)
  const since = performance.now()
  expect((await worker.end('SIGTERM')).code).toBe(0)
  expect(performance.now() - since).toBeLessThan(15_000)
  const [job] = await jobsOf(service)
  expect(job).toMatchObject({ id, attempts: 0 })
  expect(job?.due).toBeLessThanOrEqual(Date.now())
  expect((await read(service.api, id)).summary).toBe(null)
})
