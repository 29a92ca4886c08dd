/**
 * Compares every response of every test's service with the declaration of its route: all are declared, and every
 * declared one is sent in a whole run.
 */
import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { apiModules } from '../service/src/api-document.ts'
import { kinds } from '../service/src/desk/index.ts'
import { isLiteral } from '../service/src/http/unknown-address.ts'
import { errorCatalogue } from '../service/src/kernel/error-catalogue.ts'
import type { Route } from '../service/src/openapi/api-module.ts'
import { refusalsOf } from '../service/src/openapi/refusals.ts'

/** As `updateTicket 409 invalid_transition`. */
interface SeenAnswers {
  readonly declared: ReadonlySet<string>
  readonly undeclared: ReadonlySet<string>
}

/** Call it before the server listens. */
export function watchAnswers(server: FastifyInstance): SeenAnswers {
  const declared = new Set<string>()
  const undeclared = new Set<string>()
  server.addHook('onSend', async (request, reply, payload) => {
    const { route } = request.routeOptions.config
    if (route === undefined || !isLiteral(request)) return payload
    const code = isProblem(reply.getHeader('content-type')) ? codeOf(payload) : null
    const name = [route.id, reply.statusCode, ...(code === null ? [] : [code])].join(' ')
    if (isDeclared(route, reply.statusCode, code)) declared.add(name)
    else undeclared.add(name)
    return payload
  })
  return { declared, undeclared }
}

function isProblem(type: unknown): boolean {
  return String(type).startsWith('application/problem+json')
}

/** Of a problem that is sent in one piece; the offload thread's responses are bytes. */
function codeOf(payload: unknown): string {
  return (JSON.parse(String(payload)) as { code: string }).code
}

function isDeclared(route: Route, status: number, code: string | null): boolean {
  return code === null ? status in route.answers : refusalsOf(route).some((one) => one === code)
}

/** Stores the seen responses for the end of the run. */
export function keepSeen(directory: string, { declared }: SeenAnswers): void {
  if (declared.size > 0) appendFileSync(join(directory, String(process.pid)), `${[...declared].join('\n')}\n`)
}

/** Declared responses of the desk's routes that no service has sent. */
export function neverSent(directory: string): readonly string[] {
  const seen = new Set(
    readdirSync(directory).flatMap((file) => readFileSync(join(directory, file), 'utf8').split('\n')),
  )
  return apiModules(kinds)
    .flatMap(({ routes }) => routes)
    .flatMap(({ id, answers, errors = [] }) => [
      ...Object.keys(answers).map((status) => `${id} ${status}`),
      ...errors.map((code) => `${id} ${errorCatalogue[code].status} ${code}`),
    ])
    .filter((name) => !seen.has(name))
}
