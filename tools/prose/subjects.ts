/** Commit subjects: imperative mood, at most 72 characters. Only commits that the default branch does not have. */
import { execFileSync } from 'node:child_process'

interface Commit {
  readonly id: string
  readonly subject: string
}

/** Words that look like a past tense, a participle or a third person, and are imperatives. */
const imperatives =
  /^(?:embed|shed|shred|seed|feed|need|proceed|speed|bring|ping|string|focus|bias|canvas|process|pass|address|access|bypass|express|discuss|compress|suppress|guess|miss|cross|press|dismiss|stress)$/i
const irregular =
  /^(?:made|wrote|kept|gave|took|found|ran|held|sent|built|told|said|got|went|was|did|left|lost|began|drew|chose|broke|moves?d)$/i

/** What is wrong with a subject, or null. */
export function faultOf(subject: string): string | null {
  if (subject.length > 72) return `${subject.length} characters; at most 72`
  if (/\.$/.test(subject)) return 'ends with a full stop'
  const [first = ''] = subject.split(/[\s,:]/)
  if (!/^[A-Z]/.test(first)) return 'does not begin with a capital letter'
  if (imperatives.test(first)) return null
  if (/(?:ed|ing|s)$/i.test(first) || irregular.test(first)) return `"${first}" is not imperative`
  return null
}

/** The commits of this branch; none where git cannot say, as in a shallow clone or without the default branch. */
export function newCommits(root: string): Commit[] {
  const base = ['origin/HEAD', 'origin/main', 'origin/master', 'main', 'master'].find(
    (name) => git(root, 'rev-parse', '--verify', '--quiet', `${name}^{commit}`) !== null,
  )
  const fork = base === undefined ? null : git(root, 'merge-base', base, 'HEAD')
  if (fork === null) return []
  const log = git(root, 'log', '--no-merges', '--format=%h %s', `${fork.trim()}..HEAD`) ?? ''
  return log
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ id: line.slice(0, line.indexOf(' ')), subject: line.slice(line.indexOf(' ') + 1) }))
}

function git(root: string, ...words: string[]): string | null {
  try {
    return execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return null
  }
}
