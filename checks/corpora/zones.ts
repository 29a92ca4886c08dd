/**
 * The zones of IANA with their clock changes from 1970 to 2037: a booking keeps its zone and its moment, however the
 * moment is written, and the fields of the console read back what they show.
 */
import { addDays, fromLocal, sayDay, toLocal } from '../../packages/console/src/design/local-time.ts'
import type { Desk } from './desk.ts'
import { type Row, Tally } from './matrix.ts'

const [first, last] = [Date.UTC(1970, 0, 1), Date.UTC(2038, 0, 1)]
const day = 86_400_000
/** V8's clock of a zone takes changes to be this far apart, and is wrong where they are not (El Aaiun in 1976). */
const fewestDays = 19

/** `names`: of zones and of their former names. */
export async function zoneRow(names: readonly string[], desk: Desk): Promise<Row> {
  const zones = [...new Set([...names, ...Intl.supportedValuesOf('timeZone')])].filter(isKnown)
  const changes = zones.map((zone) => ({ zone, at: changesOf(zone) }))
  const api = new Tally()
  const { json: customer } = await desk.call('POST', '/v1/customers', { name: 'Ada' })
  const spelled = zones.flatMap((zone) =>
    [zone, zone.toLowerCase(), zone.toUpperCase()].map((timezone) => ({ zone, timezone, at: first })),
  )
  // Of each zone the first and the last change, and the minute before.
  const moments = changes.flatMap(({ zone, at }) =>
    [at[0], at.at(-1)].flatMap((moment) =>
      moment === undefined ? [] : [moment - 60_000, moment].map((one) => ({ zone, timezone: zone, at: one })),
    ),
  )
  const bookings = [...spelled, ...moments].flatMap(({ zone, timezone, at }) => {
    const startAt = withOffset(at, zone)
    return startAt === null ? [] : [{ zone, timezone, at, startAt }]
  })
  for (let from = 0; from < bookings.length; from += 500) {
    const part = bookings.slice(from, from + 500)
    const items = part.map(({ timezone, startAt, at }) => ({
      customerId: customer.id,
      title: 'Change of the clock',
      startAt,
      endAt: new Date(at + 3_600_000).toISOString(),
      timezone,
    }))
    const { status, json, text } = await desk.call('POST', '/v1/bookings/batch', { items })
    const rows = new Map((await desk.rows('bookings')).map((row) => [row.id, row]))
    for (const [n, { zone, timezone, startAt, at }] of part.entries()) {
      const outcome = json?.data?.[n]
      const row = rows.get(outcome?.id)
      const input = `${startAt} ${timezone}`
      if (row === undefined) api.count(input, `${status} ${JSON.stringify(outcome ?? text)}`)
      else if (row.timezone !== zone) api.count(input, `its zone is ${row.timezone}`)
      else {
        const isSame = row.startAt === new Date(at).toISOString()
        api.count(input, isSame ? null : `it starts at ${row.startAt}, not ${new Date(at).toISOString()}`)
      }
    }
  }
  const utc = 'Moments are in UTC from the API on, and the zone is a text.'
  return {
    corpus: "IANA's zones, with their clock changes",
    cells: {
      API: api,
      query: utc,
      import: utc,
      mirror: utc,
      webhook: utc,
      MCP: utc,
      SDK: utc,
      console: fields(changes),
    },
  }
}

function isKnown(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return true
  } catch {
    return false
  }
}

/** Minutes east of UTC. */
function offsetsOf(zone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
  return (at) => {
    const name = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? ''
    const [, sign = '+', hours = '0', minutes = '0', seconds = '0'] =
      /([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(name) ?? []
    return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes) + Number(seconds) / 60)
  }
}

/** The moments from which on its clock has another offset. */
function changesOf(zone: string): readonly number[] {
  const offset = offsetsOf(zone)
  const found: number[] = []
  // No zone has changed and changed back within two weeks.
  for (let from = first; from < last; from += 14 * day) {
    let [low, high] = [from, from + 14 * day]
    if (offset(low) === offset(high)) continue
    while (high - low > 1_000) {
      const middle = low + Math.floor((high - low) / 2_000) * 1_000
      if (offset(middle) === offset(low)) low = middle
      else high = middle
    }
    found.push(high)
  }
  return found
}

/** By the clock of the zone, with its offset; null where that is no whole number of minutes. */
function withOffset(at: number, zone: string): string | null {
  const minutes = offsetsOf(zone)(at)
  if (!Number.isInteger(minutes)) return null
  const two = (n: number) => String(n).padStart(2, '0')
  const absolute = Math.abs(minutes)
  const clock = new Date(at + minutes * 60_000).toISOString().slice(0, 19)
  return `${clock}${minutes < 0 ? '-' : '+'}${two(Math.floor(absolute / 60))}:${two(absolute % 60)}`
}

/** What the console does with times, in a process that lives in the zone. */
function fields(changes: readonly { readonly zone: string; readonly at: readonly number[] }[]): Tally {
  const tally = new Tally()
  const before = process.env.TZ
  try {
    for (const { zone, at } of changes) {
      process.env.TZ = zone
      for (const [n, change] of at.entries()) {
        const near = [at[n - 1], at[n + 1]].some((other = 0) => Math.abs(change - other) < fewestDays * day)
        if (near) continue
        const around = [-3_600_000, -1_800_000, -1_000, 0, 1_800_000, 3_600_000, 5_400_000]
        for (const moment of around.map((ms) => new Date(change + ms))) {
          const shown = toLocal(moment.toISOString())
          const read = fromLocal(shown, moment.toISOString())
          const again = fromLocal(shown)
          const isShown = again !== null && toLocal(again) === shown
          const fault =
            read !== moment.toISOString()
              ? `it is shown as ${shown} and read as ${read}`
              : isShown
                ? null
                : `${shown} is read as ${again}`
          tally.count(`${moment.toISOString()} ${zone}`, fault)
        }
        const today = addDays(new Date(change), 0)
        const [before, after] = [addDays(today, -1), addDays(today, 1)]
        // Where a zone went over the date line, a day is missing.
        if (sayDay(before) === sayDay(today) || sayDay(after) === sayDay(today)) continue
        const isNext =
          sayDay(addDays(before, 1)) === sayDay(today) && sayDay(addDays(after, -1)) === sayDay(today)
        tally.count(`${sayDay(today)} ${zone}`, isNext ? null : `the next day is ${sayDay(after)}`)
      }
    }
  } finally {
    if (before === undefined) delete process.env.TZ
    else process.env.TZ = before
  }
  return tally
}
