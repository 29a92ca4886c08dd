/** Tries every rule, one after the other, and tells what holds. */
import { cursorRules } from './cursor-rules.ts'
import type { Desk, Rule } from './desk.ts'
import { digestRules } from './digest-rules.ts'
import { listRules } from './list-rules.ts'
import { Broken } from './rule.ts'
import { syncRules } from './sync-rules.ts'

export const rules: readonly Rule[] = [...listRules, ...syncRules, ...digestRules, ...cursorRules]

export interface Finding {
  readonly rule: string
  readonly says: string
  readonly section: string
  readonly holds: boolean
  /** What was seen in its stead; null when it holds. */
  readonly seen: string | null
}

/**
 * `told` hears of each finding as it is made; `tried` are all rules unless told. Rejects when the deployment does not
 * answer at all.
 */
export async function tryRules(
  desk: Desk,
  onFinding: (finding: Finding) => void = () => {},
  tried: readonly Rule[] = rules,
): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const { id, says, section, check } of tried) {
    const seen = await check(desk).then(
      () => null,
      (error: unknown) => {
        if (error instanceof Broken) return error.message
        throw error
      },
    )
    const finding = { rule: id, says, section, holds: seen === null, seen }
    findings.push(finding)
    onFinding(finding)
  }
  return findings
}
