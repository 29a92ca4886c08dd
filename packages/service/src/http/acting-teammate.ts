/** The teammate for whom a request changes something: its events name the teammate, and not the key (specification 5.3). */
import type { FastifyRequest } from 'fastify'
import { type Problem, problem, quoted } from '../kernel/errors.ts'
import { parseId } from '../kernel/ids.ts'
import { fail, ok, type Result } from '../kernel/result.ts'

/** Null without the header. Whether there is such a teammate is not looked up: of another, events have no name. */
export function actingTeammate({ headers }: Pick<FastifyRequest, 'headers'>): Result<string | null, Problem> {
  const sent = headers['x-acting-teammate']
  if (sent === undefined) return ok(null)
  const id = parseId(String(sent))
  return id === null ? fail(notAnId(String(sent))) : ok(id)
}

const notAnId = (sent: string) =>
  problem('invalid_parameter', `X-Acting-Teammate must be the id of a teammate; got ${quoted(sent)}.`)
