/** The lines of an answer that arrives piece by piece. */
import { connectionFailed, unexpectedAnswer } from './problem.ts'
import { longestAnswer, overlong, textsOf } from './text-of.ts'

/** The complete lines of each piece; text after the last line break is no line. */
export async function* linesOf(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<string[]> {
  let rest = ''
  try {
    for await (const text of textsOf(body)) {
      const lines = text.split('\n')
      lines[0] = rest + lines[0]
      rest = lines.pop() ?? ''
      if (rest.length > longestAnswer) break
      yield lines
    }
  } catch (cause) {
    signal?.throwIfAborted()
    throw connectionFailed(cause)
  }
  if (rest.length > longestAnswer) throw unexpectedAnswer(200, overlong('A line of the answer'))
}
