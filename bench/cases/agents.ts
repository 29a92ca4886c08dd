/** Agents: what a tool call costs beyond the API call that it makes, and what streams cost a neighbour. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '@deskwire/sdk'
import { install, type Organization } from '../harness/installation.ts'
import { percentiles } from '../harness/load.ts'
import { type Result, type Run, summarize } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'

const calls = 1_000
const keys = 20
const streamsOfKey = 20
const reads = 1_000
const commitsApart = 200

export async function* agents({ runs }: Scale): AsyncGenerator<Result> {
  yield* toolCalls(runs)
  yield* streams(runs)
}

/** One after the other, in turn with the same reads by the API. */
async function* toolCalls(runs: number): AsyncGenerator<Result> {
  await using installation = await install(['--role', 'api', '--mcp', 'on'])
  const { url } = installation.service
  const owner = await installation.newOrganization()
  const desk = createClient({ baseUrl: `${url}/v1`, apiKey: owner.token })
  for (let n = 0; n < 20; n++) await desk.customers.create({ name: `Customer ${n}` })
  const measured: Run[] = []
  for (let run = 0; run <= runs; run++) {
    const tool: number[] = []
    const api: number[] = []
    for (let n = 0; n < calls; n++) {
      tool.push(await timed(() => callTool(url, owner.token)))
      api.push(await timed(() => listCustomers(url, owner.token)))
    }
    // The first run warms up.
    if (run > 0) measured.push({ value: p95(tool), baseline: p95(api), ...percentiles(tool) })
  }
  const conditions = { calls, tool: 'find, 10 customers', baseline: 'GET /v1/customers?limit=10' }
  yield summarize('agents: a tool call, p95', 'ms', conditions, measured)
}

/** Streams of one organization, while it commits and another reads. */
async function* streams(runs: number): AsyncGenerator<Result> {
  await using installation = await install(['--role', 'api', '--mcp', 'on'])
  const { service } = installation
  const { url } = service
  const [owner, neighbour] = [await installation.newOrganization(), await installation.newOrganization()]
  const desk = createClient({ baseUrl: `${url}/v1`, apiKey: owner.token })
  const tokens: string[] = []
  for (let n = 0; n < keys; n++) {
    const made = await desk.request('POST', '/api-keys', {
      body: { name: `${n}`, scopes: ['customers:read'] },
    })
    tokens.push((made as { token: string }).token)
  }
  await callTool(url, owner.token)
  await neighbourReads(url, neighbour)
  const alone = percentiles(await neighbourReads(url, neighbour))
  const before = await service.residentMegabytes()
  const child = fork(new URL('../harness/streams-process.ts', import.meta.url), [
    JSON.stringify({ url, tokens, each: streamsOfKey }),
  ])
  await once(child, 'message')
  const held = (await service.residentMegabytes()) - before
  const measured: Run[] = []
  for (let run = 0; run < runs; run++) {
    const reading = neighbourReads(url, neighbour)
    let isOver = false
    reading.finally(() => {
      isOver = true
    })
    while (!isOver) {
      await desk.customers.create({ name: 'New' })
      await delay(commitsApart)
    }
    const { p50, p99 } = percentiles(await reading)
    measured.push({ value: p99, p50, p99, baseline: alone.p99 })
  }
  child.disconnect()
  const conditions = { keys, 'streams of each': streamsOfKey, reads, 'commits/s': 1_000 / commitsApart }
  yield summarize(
    'agents: a neighbour of streams, p99',
    'ms',
    { ...conditions, 'p50 without': alone.p50 },
    measured,
  )
  yield summarize('agents: memory that streams hold', 'MB', conditions, [{ value: held }])
}

async function neighbourReads(url: string, { token }: Organization): Promise<number[]> {
  const latencies: number[] = []
  for (let n = 0; n < reads; n++) latencies.push(await timed(() => listCustomers(url, token)))
  return latencies
}

async function timed(act: () => Promise<void>): Promise<number> {
  const since = performance.now()
  await act()
  return performance.now() - since
}

function p95(latencies: readonly number[]): number {
  const sorted = Float64Array.from(latencies).sort()
  return sorted[Math.floor(sorted.length * 0.95)] ?? 0
}

async function listCustomers(url: string, token: string): Promise<void> {
  const answer = await fetch(`${url}/v1/customers?limit=10`, {
    headers: { authorization: `Bearer ${token}` },
  })
  await answer.text()
  if (answer.status !== 200) throw new Error(`HTTP ${answer.status}`)
}

const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

async function callTool(url: string, token: string): Promise<void> {
  const params = { name: 'find', arguments: { kind: 'customers', limit: 10 }, _meta }
  const answer = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'find',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  })
  const text = await answer.text()
  if (answer.status !== 200 || !text.includes('"found"')) throw new Error(`HTTP ${answer.status}: ${text}`)
}
