/** The environment of the process, where there is one: in Node, Deno and Bun, and not in browsers. */

const environment = (): Readonly<Record<string, string | undefined>> =>
  (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env ?? {}

/** The value of a variable that stands in for an option. Throws TypeError where it is unset or empty. */
export const variable = (name: string, option: string): string => {
  const value = environment()[name]
  if (value) return value
  throw new TypeError(`createClient needs ${option}, or ${name} in the environment`)
}
