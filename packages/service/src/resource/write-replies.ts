/**
 * What a writer is told of what it wrote: the object as it stands, or, where its key may not read the kind, which object
 * it is and in which version (specification 3.3: `write` does not imply `read`). Answers are decided on, and kept, as
 * if everybody could read; what of them is shown is looked at here alone, by the scopes of the key that is answered now.
 */
import type { FastifyReply } from 'fastify'
import { grants } from '../access/scopes.ts'
import { callerOf } from '../http/authenticate.ts'
import { entityTag } from '../http/entity-tag.ts'
import { sendProblem } from '../http/problem-reply.ts'
import { sendJson } from '../http/replies.ts'
import { versionOf } from '../journal/body.ts'
import { errorCatalogue } from '../kernel/error-catalogue.ts'
import { type Problem, problem } from '../kernel/errors.ts'
import { type ShownItem, withItems } from './batch-item.ts'
import type { Kind } from './kind.ts'

export interface WriteReplies {
  /** A stored representation, with its version. */
  object(reply: FastifyReply, body: string): FastifyReply
  /** The same, of an object that was made, with its address. */
  created(reply: FastifyReply, body: string): FastifyReply
  /** What each item of a batch came to. */
  batch(reply: FastifyReply, answer: string): FastifyReply
  refused(reply: FastifyReply, refusal: Problem): FastifyReply
}

/** Answers to the writes of a kind. */
export function createWriteReplies(kind: Kind): WriteReplies {
  const scope = `${kind.plural}:read`
  const mayRead = (reply: FastifyReply) => grants(callerOf(reply.request).scopes, scope)

  function object(reply: FastifyReply, body: string): FastifyReply {
    const tagged = reply.header('etag', entityTag(versionOf(body)))
    return sendJson(tagged, mayRead(reply) ? body : written(body))
  }

  /** In place of a refusal by the kind's own rules, which tells of the object's state: that there is one; otherwise null. */
  function untold(code: Problem['code']): Problem | null {
    const isOfState = code === 'invalid_transition' || kind.refusals?.includes(code)
    if (!isOfState || errorCatalogue[code].status !== 409) return null
    return problem(
      'invalid_transition',
      `The ${kind.name} does not allow this as it stands. How it stands, and what that allows, is told to a key with ${scope}.`,
    )
  }

  function shownItem(item: ShownItem): ShownItem {
    const refusal = item.problem === undefined ? null : untold(item.problem.code)
    if (refusal === null) return item
    const { code, detail } = refusal
    return { ...item, problem: { code, title: errorCatalogue[code].title, detail } }
  }

  return {
    object,
    created(reply, body) {
      const { id } = JSON.parse(body) as { id: string }
      return object(reply.code(201).header('location', `/v1/${kind.plural}/${id}`), body)
    },
    batch: (reply, answer) => sendJson(reply, mayRead(reply) ? answer : withItems(answer, shownItem)),
    refused: (reply, refusal) =>
      sendProblem(reply, (mayRead(reply) ? null : untold(refusal.code)) ?? refusal),
  }
}

function written(body: string): string {
  const { id, object } = JSON.parse(body) as { id: string; object: string }
  return JSON.stringify({ id, object, updatedAt: versionOf(body) })
}
