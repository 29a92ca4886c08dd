import { randomInt } from 'node:crypto'
import { followedPath, misbehave, type Outcome } from '../chaos/misbehave.ts'
import { drawnSchedule, faults, nameOf, readSchedule, type Schedule } from '../chaos/schedule.ts'
import type { Command } from '../command.ts'
import { parseFlags } from '../flags.ts'
import { attend, placeFlags, placeHelp, readPlace } from '../listen/attend.ts'
import { forward, statusFor } from '../listen/forward.ts'
import type { Answer, Received } from '../listen/receiver.ts'
import { table } from '../table.ts'
import { plain, printOut } from '../terminal.ts'
import { stopSignal } from '../until-stopped.ts'
import { UsageError } from '../usage-error.ts'

const faultsHelp = Object.entries(faults)
  .map(([name, does]) => `  ${name.padEnd(21)}  ${does}`)
  .join('\n')

export const chaosReceiver: Command = {
  help: () => `deskwire chaos-receiver: an HTTPS receiver on 127.0.0.1 that misbehaves, to see what retries, alerts and an
application make of it. It prints what it did to each delivery and, in the end, which events never got a 2xx.

  --seed TEXT            draws the answers: the n-th delivery gets the same with each run (a new one, which is printed)
  --failing PERCENT      how many of a hundred are drawn from --answers (50); the others are answered well
  --answers ANSWER,…     what is drawn (500,${Object.keys(faults).join(',')})
  --schedule ANSWER*N,…  these answers in this order, again and again, in place of a draw
  --slow SECONDS         how long a slow answer takes (3)
  --requests N           stop after so many deliveries
  --forward-to URL       pass each delivery on before the answer, also when that is an error: the application gets
                         duplicates, as at-least-once brings them
  --json                 one JSON object a line
${placeHelp()}
An ANSWER is a status from 200 to 599, ok (204 or, with --forward-to, what the application answers), or one of
${faultsHelp}

Pings are answered well, and not counted. A delivery that failed comes again after a minute, five, thirty, and so on: to see more
of it in less time, start the service with DESKWIRE_RETRY_DELAYS=1s,2s,4s,8s,16s. It has to trust receivers on this machine as
deskwire listen --help says. Of deliveries that come at the same time, which is the n-th is chance.

Exit codes: 0 when it was stopped, or has had its requests; 1 when the service refuses the key or cannot deliver here; 2 for a
wrong command line.

Examples:
  deskwire chaos-receiver --url http://127.0.0.1:8080/v1 --key dwk_… --seed 7
  deskwire chaos-receiver --secret whsec_… --schedule ok*20,503*5,reset --forward-to http://localhost:3000/hook
`,
  async run(args) {
    const { texts, switches } = parseFlags(args, {
      texts: ['seed', 'failing', 'answers', 'schedule', 'slow', 'requests', ...placeFlags],
      switches: ['json'],
    })
    for (const flag of ['seed', 'failing', 'answers'] as const) {
      if (texts.schedule !== undefined && texts[flag] !== undefined)
        throw new UsageError(`--schedule and --${flag} do not go together: a schedule is not drawn`)
    }
    const seed = texts.seed ?? String(randomInt(1_000_000))
    const percent = readNumber('failing', texts.failing ?? '50', { most: 100 })
    const schedule =
      texts.schedule === undefined
        ? drawnSchedule(seed, percent, texts.answers)
        : readSchedule(texts.schedule)
    const slowMs = readNumber('slow', texts.slow ?? '3', { most: 3_600 }) * 1_000
    const most =
      texts.requests === undefined ? null : readNumber('requests', texts.requests, { least: 1, most: 1e9 })
    const place = await readPlace(texts)
    const json = switches.json === true
    if (!json && texts.schedule === undefined) printOut(`seed ${plain(seed)}\n`)
    const enough = new AbortController()
    const until = AbortSignal.any([stopSignal(), enough.signal])
    const chaos = new Chaos({ schedule, slowMs, forwardTo: place.forwardTo })
    const receive = (received: Received) => {
      const { answer, done } = chaos.receive(received)
      void done?.then((did) => {
        printOut(json ? `${JSON.stringify(did)}\n` : line(did))
        if (chaos.finished === most) enough.abort()
      })
      return answer
    }
    await attend(place, { description: 'deskwire chaos-receiver', json, receive, until })
    printOut(json ? `${JSON.stringify({ summary: chaos.summary() })}\n` : summaryText(chaos.summary()))
  },
}

function readNumber(
  flag: string,
  text: string,
  { least = 0, most }: { least?: number; most: number },
): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text)
  throw new UsageError(
    `--${flag}: ${JSON.stringify(text)} is not accepted; it must be a whole number from ${least} to ${most}`,
  )
}

/** What was done to one delivery. */
interface Did {
  readonly at: string
  /** Which delivery it was, from 1. */
  readonly n: number
  readonly eventType: string
  readonly eventId: string
  /** The how-manieth time this event has come, from 1. */
  readonly time: number
  readonly verified: boolean
  /** `followed` for one that came after a redirect. */
  readonly answered: string
  readonly outcome: Outcome
  readonly durationMs: number
}

/** The state of such a receiver: what came, and what it was answered. */
class Chaos {
  readonly #options: { schedule: Schedule; slowMs: number; forwardTo: string | null }
  /** By event: how often it has come, and whether it was answered with a 2xx. */
  readonly #events = new Map<string, { times: number; accepted: boolean }>()
  readonly #answered = new Map<string, number>()
  #begun = 0
  /** Deliveries that were answered, as far as they are. */
  finished = 0

  constructor(options: { schedule: Schedule; slowMs: number; forwardTo: string | null }) {
    this.#options = options
  }

  /** `done` is null for a ping. */
  receive(received: Received): { answer: Answer | Promise<Answer>; done: Promise<Did> | null } {
    const { schedule, slowMs, forwardTo } = this.#options
    const { at, eventId, eventType, verdict, path, headers, body } = received
    if (eventType === 'ping') return { answer: 204, done: null }
    const event = this.#events.get(eventId) ?? { times: 0, accepted: false }
    this.#events.set(eventId, event)
    event.times++
    const begun = performance.now()
    const n = this.#begun++
    const followed = path === followedPath
    const scheduled = followed ? 'ok' : schedule(n)
    const common = {
      at: at.toISOString(),
      n: n + 1,
      eventType,
      eventId,
      time: event.times,
      verified: verdict.ok,
    }
    const passedOn = forwardTo === null ? Promise.resolve(null) : forward(forwardTo, headers, body)
    const answering = passedOn.then((forwarded) => {
      const ok = forwarded === null ? 204 : statusFor(forwarded)
      return { ok, ...misbehave(scheduled, { ok, slowMs }) }
    })
    const done = answering.then(async ({ ok, outcome }): Promise<Did> => {
      const came = await outcome
      const status = typeof scheduled === 'object' ? scheduled.status : scheduled === 'ok' ? ok : 204
      const hasStatus = typeof scheduled === 'object' || ['ok', 'slow', 'duplicate'].includes(scheduled)
      event.accepted ||= came === 'complete' && hasStatus && status >= 200 && status < 300
      const answered = followed ? 'followed' : scheduled === 'ok' ? String(ok) : nameOf(scheduled)
      this.#answered.set(answered, (this.#answered.get(answered) ?? 0) + 1)
      this.finished++
      return { ...common, answered, outcome: came, durationMs: Math.round(performance.now() - begun) }
    })
    return { answer: answering.then(({ give }) => give), done }
  }

  summary() {
    const events = [...this.#events]
    return {
      requests: this.finished,
      answered: Object.fromEntries([...this.#answered].sort()),
      events: events.length,
      repeated: events.filter(([, { times }]) => times > 1).length,
      /** Ids of events that were never answered with a 2xx: they come again. */
      unacknowledged: events.filter(([, { accepted }]) => !accepted).map(([id]) => id),
    }
  }
}

function line({ at, eventType, eventId, time, verified, answered, outcome, durationMs }: Did): string {
  const did = { timeout: 'no answer', reset: 'connection reset', duplicate: '204, and a 500 unasked' }[
    answered
  ]
  const parts = [
    at.slice(11),
    plain(eventType || '(no type)').padEnd(21),
    plain(eventId || '(no id)'),
    verified ? 'verified' : 'NOT VERIFIED',
    time === 1 ? 'first time' : `time ${time}`,
    did ?? answered,
    ...(outcome === 'gave_up' ? ['the sender gave up'] : []),
    `${durationMs} ms`,
  ]
  return `${parts.join('  ')}\n`
}

function summaryText({
  requests,
  answered,
  events,
  repeated,
  unacknowledged,
}: ReturnType<Chaos['summary']>): string {
  const counts = table([
    ['ANSWER', 'DELIVERIES'],
    ...Object.entries(answered).map(([name, n]) => [name, String(n)]),
  ])
  const open = unacknowledged.map((id) => `never answered with a 2xx: ${plain(id)}\n`).join('')
  return `\n${requests} deliveries of ${events} events, ${repeated} of them more than once\n${requests === 0 ? '' : counts}${open}`
}
