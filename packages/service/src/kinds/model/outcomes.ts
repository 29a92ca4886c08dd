/** The problems of what the journal refuses. */
import type { Refusal } from '../../journal/change.ts'
import { noSuch, type Problem, problem, validationFailed } from '../../kernel/errors.ts'
import type { Kind } from './kind.ts'

export function refusalProblem(kind: Kind, refusal: Exclude<Refusal, { reason: 'conflict' }>): Problem {
  switch (refusal.reason) {
    case 'duplicate':
      return duplicate(kind, refusal.field, refusal.existingId)
    case 'dangling':
      return unknownReference(kind, refusal.field)
    case 'full':
      return full(refusal)
  }
}

function full({ of, most }: Extract<Refusal, { reason: 'full' }>): Problem {
  const allowed = of === 'rows' ? `${most} objects of all kinds` : `objects of ${most} bytes together`
  return problem(
    'limit_reached',
    `An organization may have ${allowed}. Delete customers or tickets that are not needed, or ask the operator for more.`,
  )
}

function duplicate(kind: Kind, field: string, existingId: string): Problem {
  const detail = `Another ${kind.name} has this ${field}: change ${existingId}, or send another value.`
  return problem('duplicate', detail, { existingId })
}

/** 422 for a field that refers to what does not exist. */
function unknownReference(kind: Kind, field: string): Problem {
  const target = kind.fields[field]?.reference
  const called = target?.condition?.otherwise ?? target?.kind
  const pointer = `/${field}${target?.within ?? ''}`
  return validationFailed([
    { pointer, code: 'unknown_reference', detail: `there is no ${called} with this id` },
  ])
}

/** 404 for an id that the organization does not have. */
export function noSuchObject(kind: Kind, id: string): Problem {
  return noSuch(kind.name, id, 'It may have been removed; check the id.')
}

export const tooBusy = problem(
  'unavailable',
  'Other writers changed the object each time this change was about to commit. Send it again.',
)
