/** What a summarizer is asked and answers, whichever it is. */
import type { Transcript } from './transcript.ts'

export type Summarized =
  | { readonly outcome: 'written'; readonly summary: string }
  /** `reason` is for the log: it holds nothing that was said. */
  | {
      readonly outcome: 'failed'
      readonly reason: string
      /** Milliseconds that the endpoint asks everybody to wait. */
      readonly retryAfter: number | null
    }

/** Rejects only when `stop` is aborted. */
export type Summarize = (transcript: Transcript, stop: AbortSignal) => Promise<Summarized>
