/** What this runs in: nothing here is certain to exist, as the client runs in Node, Deno, Bun, workers and browsers. */

interface Surroundings {
  process?: { env?: Record<string, string | undefined> }
  location?: { origin: string }
}

const surroundings = globalThis as Surroundings

/** The value of a variable that stands in for an option. Throws TypeError where it is unset or empty. */
export const variable = (name: string, option: string): string => {
  const value = surroundings.process?.env?.[name]
  if (value) return value
  throw new TypeError(`createClient needs ${option}, or ${name} in the environment`)
}

/** The origin of the page, in a browser. */
export const pageOrigin = (): string | undefined => surroundings.location?.origin
