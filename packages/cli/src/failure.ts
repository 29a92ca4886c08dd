/** Something that was to happen did not; the message says what, and what to do. */
export class CommandFailure extends Error {
  /** What the process exits with. */
  readonly exitCode: number

  constructor(message: string, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}
