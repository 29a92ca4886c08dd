/** `warning`: the service runs, but someone should check. `failed`: it does not start, or delivers nothing. */
export type Verdict = 'ok' | 'warning' | 'failed'

export interface Finding {
  readonly check: string
  readonly verdict: Verdict
  /** The observation: one line, no secrets. */
  readonly found: string
  /** What to do; null when there is nothing to do, or `found` says it. */
  readonly advice: string | null
}

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

/** A message that a start would fail with, which includes the advice. */
export function failedAsTheStart(check: string, message: string): Finding {
  return { check, verdict: 'failed', found: message.split('\n', 1)[0] ?? '', advice: null }
}

export function verdictOf(findings: readonly Finding[]): Verdict {
  const has = (verdict: Verdict) => findings.some((finding) => finding.verdict === verdict)
  return has('failed') ? 'failed' : has('warning') ? 'warning' : 'ok'
}
