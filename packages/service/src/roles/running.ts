/** What every part that runs shares: how it is stopped. */

/** A part of the service that runs until it is told to stop. */
export interface Running {
  /** Finishes what is under way and resolves when nothing of it runs any more. */
  stop(): Promise<void>
}
