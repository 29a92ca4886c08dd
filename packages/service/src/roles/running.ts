/** A part of the service that runs until it is stopped. */
export interface Running {
  /** Completes work in progress, and resolves when nothing runs any more. */
  stop(): Promise<void>
}
