/**
 * What a receiver that misbehaves answers, and when: the n-th delivery gets the n-th answer, the same with each run.
 */
import { createHash } from 'node:crypto'
import { UsageError } from '../usage-error.ts'

/** Ways to misbehave, each with what it does. */
export const faults = {
  redirect: 'a 307 to another path of this receiver',
  timeout: 'no answer at all, until the sender gives up',
  reset: 'the connection is reset once the request was read',
  slow: 'a 204 whose bytes come one by one, over --slow',
  duplicate: 'a 204 and, unasked, a 500 behind it on the same connection',
} as const

type Fault = keyof typeof faults

/** `ok` is 204 or, where deliveries are passed on, what the application answers. */
export type ScheduledAnswer = 'ok' | Fault | { readonly status: number }

/** What is drawn from unless it is said otherwise. */
const drawnFrom = '500,redirect,timeout,reset,slow,duplicate'

/** The answer to the n-th delivery, counted from 0. */
export type Schedule = (n: number) => ScheduledAnswer

/** As it is written on a command line: `reset`, `503`. */
export function nameOf(answer: ScheduledAnswer): string {
  return typeof answer === 'object' ? String(answer.status) : answer
}

/**
 * These answers one after the other, again and again: `ok*20,500*5,reset`.
 * @throws UsageError
 */
export function readSchedule(text: string): Schedule {
  const answers = text.split(',').flatMap((entry) => {
    const [, name = '', times = '1'] = /^(\w+)(?:\*(\d{1,6}))?$/.exec(entry) ?? []
    return Array.from({ length: Number(times) }, () => readAnswer('--schedule', name, entry))
  })
  if (answers.length === 0)
    throw new UsageError('--schedule: nothing is left of it; it must be like ok*20,500*5,reset')
  return (n) => answers[n % answers.length] as ScheduledAnswer
}

/**
 * Of every hundred, so many get one of `text`'s answers, drawn by the seed, and the others `ok`.
 * @throws UsageError
 */
export function drawnSchedule(seed: string, percent: number, text: string = drawnFrom): Schedule {
  const answers = text.split(',').map((name) => readAnswer('--answers', name, name))
  return (n) => {
    const draw = createHash('sha256').update(`${seed}:${n}`).digest()
    if (draw.readUInt32BE(0) % 100 >= percent) return 'ok'
    return answers[draw.readUInt32BE(4) % answers.length] as ScheduledAnswer
  }
}

function readAnswer(flag: string, name: string, entry: string): ScheduledAnswer {
  if (name === 'ok' || Object.hasOwn(faults, name)) return name as 'ok' | Fault
  if (/^[2-5]\d\d$/.test(name)) return { status: Number(name) }
  throw new UsageError(
    `${flag}: ${JSON.stringify(entry)} is not accepted; there are ok, ${Object.keys(faults).join(', ')}, and a status from 200 to 599`,
  )
}
