/**
 * What the process exits with, of every command: what scripts rely on. `docs/reference/commands.md` is made from it.
 */
export const exitCodes = { done: 0, failed: 1, notAccepted: 2, found: 3, interrupted: 130 } as const

export const exitCodeMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  done: 'It is done, and everything is as it should be. Commands that have no end by themselves exit so when they are stopped (Ctrl-C, SIGTERM).',
  failed: 'It was interrupted or failed. The line on standard error says why, and what to do.',
  notAccepted:
    'The command line or a setting is not accepted: the line on standard error says what is. Nothing has started.',
  found:
    'It finished and found a fault: a signature is wrong, lines were rejected, a rule does not hold. Standard output says which.',
  interrupted: 'It was interrupted. Standard error says how to continue.',
}

/** Aborts when standard output cannot be written any more; the reason is its failure. */
const output = new AbortController()

/**
 * Takes note of standard output and error that are closed or full, whatever the command: unheard, that would end the
 * process with a stack trace before it has cleaned up.
 */
export function watchOutput(): void {
  process.stdout.on('error', (error) => output.abort(error))
  process.stderr.on('error', () => {})
}

export const outputLost: AbortSignal = output.signal

/**
 * Whether the system refused to write to standard output. A reader that has left had what it wanted: `head` for
 * example.
 */
export function outputFailure(): string | null {
  if (!outputLost.aborted) return null
  const { code, message } = outputLost.reason as NodeJS.ErrnoException
  return code === 'EPIPE' ? null : `standard output cannot be written: ${message}`
}

/** Something that was to happen did not; the message says what, and what to do. */
export class CommandFailure extends Error {
  /** What the process exits with. */
  readonly exitCode: number

  constructor(message: string, exitCode: number = exitCodes.failed) {
    super(message)
    this.exitCode = exitCode
  }
}
