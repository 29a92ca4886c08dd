/** Where time comes from. Everything that asks for the time takes a Clock, so that tests can move it. */
export interface Clock {
  /** Milliseconds since the Unix epoch, as an integer. */
  now(): number
}

/** Starts a stopwatch: what it answers is the milliseconds since then, whatever clocks are set to. */
export function stopwatch(): () => number {
  const began = performance.now()
  return () => performance.now() - began
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() }
