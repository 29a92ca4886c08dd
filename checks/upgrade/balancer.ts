/**
 * A load balancer for several APIs: polls /readyz, and sends each request to the next ready one. It passes over one
 * that it cannot connect to, and never sends a request twice.
 */
import { Agent, request } from 'node:http'
import type { Answer, Call } from '../torture/load/writer.ts'

interface Balancer {
  readonly call: Call
  /** Adds one, once it is ready. */
  add(url: string): Promise<void>
  /** Removes one: it gets no more requests. Resolves when its requests have ended. */
  remove(url: string): Promise<void>
  /** From now on responses are counted under this name. */
  phase(name: string): void
  readonly phases: readonly Phase[]
}

export interface Phase {
  readonly name: string
  /** Of the monotonic clock, in milliseconds. */
  readonly began: number
  answers: number
  /** In milliseconds. */
  slowest: number
  /** The slowest call, and when its response came, in seconds since the phase began. */
  slowestCall: string
  /** Failures that clients would see: 5xx by status and text, and requests without a response. */
  readonly failed: string[]
}

interface Upstream {
  readonly url: string
  underWay: number
}

/** In milliseconds. */
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
      // Without the wait that a reader asked for.
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
