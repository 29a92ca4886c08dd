/** What the doctor finds: for each thing that the service needs, how it is, and what to do where it is not well. */

/** `warning`: the service runs, and somebody should look. `failed`: it does not run like this, or delivers nothing. */
export type Verdict = 'ok' | 'warning' | 'failed'

export interface Finding {
  /** What was looked at, in a word or two. */
  readonly check: string
  readonly verdict: Verdict
  /** What was seen: one line, nothing secret. */
  readonly found: string
  /** What to do; null where nothing is, or what was found says it. */
  readonly advice: string | null
}

/** Findings of one check. */
interface Findings {
  ok(found: string): Finding
  warning(found: string, advice: string): Finding
  failed(found: string, advice: string): Finding
}

export function findingsOf(check: string): Findings {
  return {
    ok: (found) => ({ check, verdict: 'ok', found, advice: null }),
    warning: (found, advice) => ({ check, verdict: 'warning', found, advice }),
    failed: (found, advice) => ({ check, verdict: 'failed', found, advice }),
  }
}

/** A line that a start would end with: it says what to do by itself. */
export function failedAsTheStart(check: string, message: string): Finding {
  return { check, verdict: 'failed', found: message.split('\n', 1)[0] ?? '', advice: null }
}

/** The gravest of them. */
export function verdictOf(findings: readonly Finding[]): Verdict {
  const has = (verdict: Verdict) => findings.some((finding) => finding.verdict === verdict)
  return has('failed') ? 'failed' : has('warning') ? 'warning' : 'ok'
}
