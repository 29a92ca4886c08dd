/**
 * A balancer as it stands in front of several APIs: it asks their /readyz, sends each request to the next one that is ready, and
 * shows its client what that answered. One that cannot be connected to is passed over; what was sent is never sent twice.
 */
import { Agent, request } from 'node:http'
import type { Answer, Call } from '../torture/load/writer.ts'

interface Balancer {
  readonly call: Call
  /** Takes one in, once it is ready. */
  add(url: string): Promise<void>
  /** Takes one out: it gets no more, and what it has is answered. Resolves when it has nothing left. */
  remove(url: string): Promise<void>
  /** From now on answers are counted under this name. */
  phase(name: string): void
  readonly phases: readonly Phase[]
}

export interface Phase {
  readonly name: string
  /** Of the monotonic clock, in milliseconds. */
  readonly began: number
  answers: number
  /** Milliseconds. */
  slowest: number
  /** What that was: the call, and when its answer came, in seconds since the phase began. */
  slowestCall: string
  /** What a client should not see: answers of 5xx by status and text, and requests without an answer. */
  readonly failed: string[]
}

interface Upstream {
  readonly url: string
  underWay: number
}

/** Milliseconds. */
const patience = 30_000

export function createBalancer(token: string): Balancer {
  const agent = new Agent({ keepAlive: true, maxSockets: 200 })
  const phases: Phase[] = []
  let upstreams: Upstream[] = []
  let turn = 0

  const call: Call = async (method, path, body) => {
    const phase = phases.at(-1) as Phase
    const since = performance.now()
    const failed = (what: string) => phase.failed.push(`${method} ${path.split(/[?]/)[0]}: ${what}`)
    try {
      const answer = await send(method, path, body)
      phase.answers++
      if (answer.status >= 500) failed(`${answer.status} ${answer.text.slice(0, 300)}`)
      return answer
    } catch (error) {
      failed((error as Error).message)
      throw error
    } finally {
      // A reader that waits is held back for as long as it asks.
      const took = performance.now() - since
      if (!path.includes('wait=') && took > phase.slowest) {
        phase.slowest = took
        phase.slowestCall = `${method} ${path.split(/[?]/)[0]?.replaceAll(/[0-9a-f-]{36}/g, 'ID')}, ${((performance.now() - phase.began) / 1_000).toFixed(1)} s after its beginning`
      }
    }
  }

  async function send(...[method, path, body]: Parameters<Call>): Promise<Answer> {
    for (let tried = 0; ; tried++) {
      const upstream = upstreams[turn++ % upstreams.length]
      if (upstream === undefined) throw new Error('no API is ready')
      upstream.underWay++
      try {
        return await ask(upstream.url, method, path, body)
      } catch (error) {
        const { syscall } = error as NodeJS.ErrnoException
        if (syscall !== 'connect' || tried >= upstreams.length) throw error
      } finally {
        upstream.underWay--
      }
    }
  }

  function ask(url: string, ...[method, path, body]: Parameters<Call>): Promise<Answer> {
    const sent = body === undefined ? undefined : JSON.stringify(body)
    return new Promise((resolve, reject) => {
      const asked = request(
        url + path,
        {
          method,
          agent,
          timeout: patience,
          headers: {
            authorization: `Bearer ${token}`,
            ...(sent === undefined
              ? {}
              : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) }),
          },
        },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
          )
        },
      )
      asked.on('timeout', () => asked.destroy(new Error(`no answer within ${patience} ms`)))
      asked.on('error', reject)
      asked.end(sent)
    })
  }

  return {
    call,
    phases,
    phase(name) {
      phases.push({ name, began: performance.now(), answers: 0, slowest: 0, slowestCall: '', failed: [] })
    },
    async add(url) {
      const ready = await fetch(`${url}/readyz`)
      if (ready.status !== 200) throw new Error(`${url}/readyz answers ${ready.status}`)
      upstreams = [...upstreams, { url, underWay: 0 }]
    },
    async remove(url) {
      const leaving = upstreams.find((upstream) => upstream.url === url)
      upstreams = upstreams.filter((upstream) => upstream !== leaving)
      while (leaving !== undefined && leaving.underWay > 0)
        await new Promise((resolve) => setTimeout(resolve, 10))
    },
  }
}
