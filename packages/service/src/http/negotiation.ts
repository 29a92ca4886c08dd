/** Which of several forms of an answer a request likes best (RFC 9110, section 12.5): by Accept, or by Accept-Encoding. */

/** The best liked of what is offered, in doubt the first; null where none is accepted, or nothing is said. */
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

/** `gzip;q=0.5` is half as welcome as what has no weight; what is malformed is not welcome at all. */
function weighed(range: string): [name: string, weight: number] {
  const [name = '', ...parameters] = range.split(';').map((part) => part.trim())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))
  return [name, weight === undefined ? 1 : Number(weight.slice(2)) || 0]
}
