/** The header X-Acting-Teammate: events of the request name this teammate as their actor, not the key (specification 5.3). */
import type { FastifyRequest } from 'fastify'
import { type Problem, problem, quoted } from '../kernel/errors.ts'
import { parseId } from '../kernel/ids.ts'
import { fail, ok, type Result } from '../kernel/outcome.ts'

/** Null without the header. It does not look the teammate up: if there is none, the actor has no name. */
export function actingTeammate({ headers }: Pick<FastifyRequest, 'headers'>): Result<string | null, Problem> {
  const sent = headers['x-acting-teammate']
  if (sent === undefined) return ok(null)
  const id = parseId(String(sent))
  return id === null ? fail(notAnId(String(sent))) : ok(id)
}

const notAnId = (sent: string) =>
  problem('invalid_parameter', `X-Acting-Teammate must be the id of a teammate; got ${quoted(sent)}.`)
