/** Content negotiation by Accept or Accept-Encoding (RFC 9110, section 12.5). */

/** The preferred one of those offered, the first of equals; null when none is accepted, or the header is absent. */
export function preferred<Name extends string>(
  accepted: string | undefined,
  offered: readonly Name[],
): Name | null {
  if (accepted === undefined) return null
  const weights = new Map(accepted.toLowerCase().split(',').map(weighed))
  let best: Name | null = null
  let most = 0
  for (const name of offered) {
    const ranges = [name, name.replace(/\/.*$/, '/*'), '*/*', '*']
    const weight = ranges.map((range) => weights.get(range)).find((one) => one !== undefined) ?? 0
    if (weight <= most) continue
    best = name
    most = weight
  }
  return best
}

/** The weight of `gzip;q=0.5`; default: 1. A malformed one is 0. */
function weighed(range: string): [name: string, weight: number] {
  const [name = '', ...parameters] = range.split(';').map((part) => part.trim())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))
  return [name, weight === undefined ? 1 : Number(weight.slice(2)) || 0]
}
