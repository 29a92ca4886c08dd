export interface Running {
  /** Completes work in progress, and resolves when nothing runs any more. */
  stop(): Promise<void>
}
