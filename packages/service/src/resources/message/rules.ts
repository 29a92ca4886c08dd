/** What a message must be: pure rules (specification 4.5). */
import { type FieldError, type Problem, validationFailed } from '../../kernel/errors.ts'
import { fail, ok, type Result } from '../../kernel/result.ts'
import type { RuleContext } from '../../resource/kind.ts'
import type { Message } from './fields.ts'

/** A new message: written by the customer exactly when it is inbound, with something in it, sent now unless told. */
export function createMessage(draft: Message, { now }: RuleContext): Result<Message, Problem> {
  const errors: FieldError[] = []
  const { author, direction } = draft
  if ((direction === 'inbound') !== (author.type === 'customer')) {
    const accepted = direction === 'inbound' ? 'customer' : 'teammate, ai or system'
    const detail = `must be ${accepted}: the message is ${direction}`
    errors.push({ pointer: '/author/type', code: 'invalid_value', detail })
  }
  if (author.id !== undefined && author.type !== 'teammate') {
    const detail = 'only a teammate has an id; leave it out'
    errors.push({ pointer: '/author/id', code: 'invalid_value', detail })
  }
  if (!draft.body && draft.attachments.length === 0) {
    const detail = 'is required unless there are attachments: must be a string of 1 to 64000 characters'
    errors.push({ pointer: '/body', code: 'required', detail })
  }
  if (errors.length > 0) return fail(validationFailed(errors))
  return ok({ ...draft, sentAt: draft.sentAt ?? now })
}

/** A message is created and never changes; losing its customer has no event. */
export function messageEvents(before: Message | null, after: Message): readonly string[] {
  if (before !== null) return []
  return [after.direction === 'inbound' ? 'message.received' : 'message.sent']
}
