/** Tries fields of a kind one by one over HTTP. */
import { expect } from 'vitest'
import type { Answer, Api } from './service.ts'

/** The value sent, and the value shown, or `refused(…)`. */
export type FieldCase = readonly [field: string, given: unknown, shown: unknown]

class Refused {
  readonly code: string
  readonly below: string
  constructor(code: string, below = '') {
    this.code = code
    this.below = below
  }
}

/** Refused with this code, at the field or below it. */
export const refused = (code: string, below = '') => new Refused(code, below)

/** The field is left out. */
export const absent = Symbol('absent')

/** Creates an object from `base` with this field. */
export async function tryCreation(api: Api, path: string, base: object, [field, given, shown]: FieldCase) {
  const body: Record<string, unknown> = { ...base, [field]: given }
  if (given === absent) delete body[field]
  expectShown(await api.post(path, body), 201, field, shown)
}

/** Changes the field of an existing object. */
export async function tryChange(api: Api, path: string, [field, given, shown]: FieldCase) {
  const before = await api.get(path)
  const answer = await api.patch(path, { [field]: given })
  expectShown(answer, 200, field, shown)
  expect((await api.get(path)).text).toBe(shown instanceof Refused ? before.text : answer.text)
}

function expectShown({ status, json, text }: Answer, success: number, field: string, shown: unknown): void {
  if (!(shown instanceof Refused)) {
    expect({ status, text }).toMatchObject({ status: success })
    expect(json[field]).toEqual(shown)
    return
  }
  expect({ status, code: json.code }, text).toEqual({ status: 422, code: 'validation_failed' })
  const wrong = json.errors.map((error: { pointer: string; code: string }) => [error.pointer, error.code])
  expect(wrong).toContainEqual([`/${field}${shown.below}`, shown.code])
}
