import { parseArgs } from 'node:util'
import { UsageError } from './usage-error.ts'

interface Flags<S extends string, B extends string, L extends string> {
  readonly texts: Partial<Record<S, string>>
  readonly switches: Partial<Record<B, boolean>>
  /** Flags that may come several times; none of them is an empty list. */
  readonly lists: Readonly<Record<L, readonly string[]>>
  /** Words that are no flags. */
  readonly words: readonly string[]
}

/** Reads a command line. @throws UsageError that names what is accepted. */
export function parseFlags<const S extends string, const B extends string, const L extends string = never>(
  args: readonly string[],
  accepted: {
    readonly texts: readonly S[]
    readonly switches: readonly B[]
    /** With the letters that they are known by too. */
    readonly lists?: Readonly<Record<L, string>>
    readonly words?: number
  },
): Flags<S, B, L> {
  const { texts, switches, lists = {} as Record<L, string>, words = 0 } = accepted
  const options = {
    ...Object.fromEntries(switches.map((name) => [name, { type: 'boolean' as const }])),
    ...Object.fromEntries(texts.map((name) => [name, { type: 'string' as const }])),
    ...Object.fromEntries(
      Object.entries<string>(lists).map(([name, short]) => [
        name,
        { type: 'string' as const, multiple: true, short },
      ]),
    ),
  }
  const names = [...texts, ...switches, ...Object.keys(lists)].map((name) => `--${name}`).join(', ')
  try {
    const { values, positionals, tokens } = parseArgs({
      tokens: true,
      args: withoutValues(args, switches),
      options: {
        ...Object.fromEntries(switches.map((name) => [`no-${name}`, { type: 'boolean' as const }])),
        ...options,
      },
      allowPositionals: words > 0,
    })
    const named = tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []))
    const twice = texts.find((name) => named.indexOf(name) !== named.lastIndexOf(name))
    if (twice !== undefined) throw new UsageError(`--${twice} is given twice`)
    for (const name of switches) {
      // `no-body` may be a switch of its own.
      if (values[`no-${name}`] !== true || names.includes(`--no-${name}`)) continue
      if (values[name] === true) throw new UsageError(`--${name} and --no-${name} do not go together`)
      values[name] = false
    }
    if (positionals.length > words) {
      throw new UsageError(`Unexpected argument '${positionals[words]}'; accepted: ${names}`)
    }
    const pick = <V>(wanted: readonly string[]) =>
      Object.fromEntries(Object.entries(values).filter(([name]) => wanted.includes(name))) as V
    const given: Record<string, unknown> = Object.fromEntries(
      Object.keys(lists).map((name) => [name, values[name] ?? []]),
    )
    return {
      texts: pick(texts),
      switches: pick(switches),
      lists: given as Record<L, string[]>,
      words: positionals,
    }
  } catch (error) {
    if (error instanceof UsageError) throw error
    // The first sentence says what is wrong; the others, on lines of their own, guess why.
    throw new UsageError(`${(error as Error).message.split(/\.\s/)[0]}; accepted: ${names}`)
  }
}

/** `--name=false` as `--no-name`, and `--name=true` as `--name`: a switch takes no value otherwise. */
function withoutValues(args: readonly string[], switches: readonly string[]): string[] {
  const end = args.indexOf('--')
  return args.map((arg, n) => {
    const [, name, value] = (end === -1 || n < end ? /^--([\w-]+)=(true|false)$/.exec(arg) : null) ?? []
    if (name === undefined || !switches.includes(name)) return arg
    return value === 'true' ? `--${name}` : `--no-${name}`
  })
}
