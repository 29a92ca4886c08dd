/**
 * The program of the summarizer's thread: reads messages as text, and picks sentences from it. Parsing markup and
 * comparing sentences blocks an event loop for up to a tenth of a second, and deliveries must not wait.
 */
import type { Message } from '../desk/message/fields.ts'
import { message } from '../desk/message/index.ts'
import { answerCalls } from '../kernel/call-thread.ts'
import { parseRepresentation, type StoredBody } from '../kinds/model/representation.ts'
import { extractSummary } from './extractive.ts'
import { summaryWithoutText, type Transcript, transcriptOf } from './transcript.ts'

export interface ToRead {
  readonly messages: readonly StoredBody[]
  readonly subject: string | null
  /** Whether some were not read. */
  readonly abridged: boolean
  /** Whether a summary is picked from the sentences. */
  readonly picks: boolean
}

/** What the messages say; or a summary, where one is to be picked or there is nothing to summarize. */
export type ReadText = { readonly summary: string } | { readonly transcript: Transcript }

answerCalls(({ messages, subject, abridged, picks }: ToRead): ReadText => {
  const read = messages.map((row) => parseRepresentation(message, row).state as unknown as Message)
  const transcript = transcriptOf(subject, read, abridged)
  if (transcript.messages.length === 0) return { summary: summaryWithoutText(transcript) }
  return picks ? { summary: extractSummary(transcript) || summaryWithoutText(transcript) } : { transcript }
})
