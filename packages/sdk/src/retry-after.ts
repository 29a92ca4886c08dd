/** Retry-After (RFC 9110, section 10.2.3). Service, SDKs and mirror read it alike: `vectors/retry-after.json`. */

/** A longer delay is read as this one: a day, in milliseconds. */
const longest = 86_400_000

/**
 * Milliseconds from `now`, at most a day, of whole seconds or an HTTP date; undefined for anything else, which asks
 * for no delay.
 */
export const parseRetryAfter = (value: string | null | undefined, now: number): number | undefined => {
  const text = value?.replace(/^[ \t]+|[ \t]+$/g, '') ?? ''
  const delay = /^\d+$/.test(text) ? +text * 1_000 : dateOf(text, now) - now
  return Number.isNaN(delay) ? undefined : Math.min(Math.max(0, delay), longest)
}

/**
 * Brings the two former forms of a date into today's, which JavaScript writes; NaN when it would write it
 * differently.
 */
const dateOf = (text: string, now: number): number => {
  const date = text
    .replace(/^(\w{3})\w*day, (\d\d)-(\w{3})-(\d\d) /, (_, weekday, day, month, year) => {
      const later = 2000 + +year
      // At most 50 years ahead.
      return `${weekday}, ${day} ${month} ${later > new Date(now).getUTCFullYear() + 50 ? later - 100 : later} `
    })
    .replace(
      /^(\w{3}) (\w{3}) ([ \d])(\d) (\S+) (\d{4})$/,
      (_, weekday, month, tens, ones, time, year) =>
        `${weekday}, ${+tens}${ones} ${month} ${year} ${time} GMT`,
    )
  const at = new Date(date)
  return at.toUTCString() === date ? at.getTime() : Number.NaN
}
