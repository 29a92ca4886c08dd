/** Memory of a worker with ten thousand endpoints, half of them hanging, and a million pending deliveries. */
import { plant } from '../../packages/testbed/planted.ts'
import { installFor } from '../harness/installation.ts'
import { startReceiver } from '../harness/receiver.ts'
import { type Result, summarize } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'

const endpointsEach = 50
const organizations = 200
const seconds = 40

export async function* memory({ full }: Scale): AsyncGenerator<Result> {
  const backlog = full ? 100 : 20
  const endpoints = endpointsEach * organizations
  await using installation = await installFor(startReceiver, ['--role', 'api'])
  const { receiver, pool } = installation
  const encryptionKey = await installation.encryptionKey()
  for (let n = 0; n < organizations; n++) {
    const { organizationId } = await installation.newOrganization()
    const urls = Array.from({ length: endpointsEach }, (_, at) =>
      at % 2 === 0 ? `${receiver.origin}/hang/${n}/${at}` : `${receiver.origin}/well/${n}/${at}`,
    )
    await plant(pool, { organizationId, encryptionKey, urls, backlog, now: Date.now(), bytes: 1_000 })
  }
  await pool.query('analyze')
  await receiver.reset(false)
  const worker = await installation.startWorker()
  let received = 0
  for (let second = 0; second < seconds; second++) {
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    ;({ received } = await receiver.tell())
  }
  const value = await worker.peakMegabytes()
  await worker.stop()
  const conditions = {
    endpoints,
    pending: endpoints * backlog,
    body: '1 KB',
    'of them hanging': '50 %',
    seconds,
    'delivered meanwhile': received,
  }
  yield summarize('memory: a worker among ten thousand endpoints, at its most', 'MB', conditions, [{ value }])
}
