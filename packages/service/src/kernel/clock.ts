/** Where time comes from. Everything that asks for the time takes a Clock, so that tests can move it. */
export interface Clock {
  /** Milliseconds since the Unix epoch, as an integer. */
  now(): number
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() }
