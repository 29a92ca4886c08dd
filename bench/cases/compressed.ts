/** The cost of compressed pages, and what they save: pages a second, CPU time of the API, bytes sent. */
import { Agent, request } from 'node:http'
import type { PlainRequest } from '../harness/plain-client.ts'
import { processorSeconds } from '../harness/processor-time.ts'
import { type Result, type Run, summarize } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'
import { pageLength, pageRequests } from '../harness/stream.ts'

const codings = ['identity', 'gzip', 'br'] as const
const clients = 2
const requests = 2000

export async function* compressed({ runs, shelf }: Scale): AsyncGenerator<Result> {
  const { url, pid } = (await shelf.installation()).service
  const next = pageRequests(await shelf.organization(10_000))
  const measured = codings.map(() => ({ pages: [] as Run[], processor: [] as Run[], kilobytes: 0 }))
  await read(url, next, 'identity')
  for (let run = 0; run < runs; run++) {
    // By turns, so that load on the machine affects all alike.
    for (const [n, coding] of codings.entries()) {
      const before = await processorSeconds(pid)
      const since = performance.now()
      const bytes = await read(url, next, coding)
      const value = requests / ((performance.now() - since) / 1000)
      const milliseconds = (((await processorSeconds(pid)) - before) * 1000) / requests
      measured[n]?.pages.push({ value })
      measured[n]?.processor.push({ value: milliseconds })
      if (measured[n] !== undefined) measured[n].kilobytes = Math.round(bytes / requests / 100) / 10
    }
  }
  for (const [n, coding] of codings.entries()) {
    const { pages = [], processor = [], kilobytes = 0 } = measured[n] ?? {}
    const conditions = { clients, limit: pageLength, 'KB a page': kilobytes }
    yield summarize(`compressed: pages as ${coding}`, 'pages/s', conditions, pages)
    yield summarize(
      `compressed: processor time of the API for a page as ${coding}`,
      'ms',
      conditions,
      processor,
    )
  }
}

/** Reads so many pages with so many clients, without unpacking them; returns the bytes. */
async function read(
  url: string,
  next: () => PlainRequest,
  coding: (typeof codings)[number],
): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  let left = requests
  let bytes = 0
  const client = async () => {
    while (left-- > 0) bytes += await lengthOf(url, next(), coding, agent)
  }
  await Promise.all(Array.from({ length: clients }, client))
  agent.destroy()
  return bytes
}

function lengthOf(
  url: string,
  { path, headers }: PlainRequest,
  coding: string,
  agent: Agent,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const asked = { ...headers, 'accept-encoding': coding }
  const sent = request(url + path, { headers: asked, agent }, (answer) => {
    let bytes = 0
    answer.on('data', (piece: Buffer) => {
      bytes += piece.length
    })
    answer.once('error', reject).once('end', () => {
      const came = answer.headers['content-encoding'] ?? 'identity'
      if (answer.statusCode === 200 && came === coding) resolve(bytes)
      else reject(new Error(`${path} answered ${answer.statusCode} as ${came}, not 200 as ${coding}`))
    })
  })
  sent.once('error', reject).end()
  return promise
}
