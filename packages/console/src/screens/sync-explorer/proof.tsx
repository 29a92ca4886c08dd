/** The copy and its digests, kind by kind, with buttons to break it, find differences, and repair it. */

import { Button } from '../../design/button.tsx'
import { Panel } from '../../design/page.tsx'
import { Status } from '../../design/status.tsx'
import { locale } from '../../design/time.tsx'
import type { Explorer, ExplorerState, KindState, Trial } from './explorer.ts'
import css from './proof.module.css'

const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' })

export function Proof({ state, explorer }: { readonly state: ExplorerState; readonly explorer: Explorer }) {
  const { kinds, provedAt, phase, trial } = state
  const differing = kinds.filter(({ isExact }) => !isExact)
  return (
    <Panel title="Copy in this tab" actions={<Verdict differing={differing.length} provedAt={provedAt} />}>
      {provedAt === null ? (
        <p className={css.none}>The service sends its checkpoint with the last page.</p>
      ) : (
        <>
          <table className={css.proof}>
            <caption className="unseen">Checkpoint of the copy and of the service</caption>
            <thead>
              <tr>
                <th scope="col">Kind</th>
                <th scope="col">Rows</th>
                <th scope="col">IDs and versions</th>
                <th scope="col">Contents</th>
                <th scope="col">Status</th>
              </tr>
            </thead>
            <tbody>
              {kinds.map((kind) => (
                <OneKind key={kind.kind} state={kind} />
              ))}
            </tbody>
          </table>
          <p className={css.none}>
            Equal counts and digests prove that the copy has the same rows with the same contents.{' '}
            <a href="/docs/guides/sync.md">Verify your own copy</a> in the same way.
          </p>
          {phase !== 'reading' && (
            <Steps trial={trial} kinds={kinds} differing={differing} explorer={explorer} />
          )}
        </>
      )}
    </Panel>
  )
}

function Verdict({ differing, provedAt }: { readonly differing: number; readonly provedAt: number | null }) {
  if (provedAt === null) return <Status tone="quiet">Not compared yet</Status>
  if (differing > 0) return <Status tone="bad">Differs</Status>
  return (
    <Status tone="good">
      <span className="number">Exact at {clock.format(provedAt)}</span>
    </Status>
  )
}

function OneKind({ state: { kind, held, served, isExact } }: { readonly state: KindState }) {
  const pairs = [
    ['Rows', held.count.toLocaleString('en'), served === null ? null : served.count.toLocaleString('en')],
    ['IDs and versions', held.digest, served?.digest ?? null],
    ['Contents', held.contentDigest, served?.contentDigest ?? null],
  ] as const
  return (
    <tr>
      <th scope="row">{kind}</th>
      {pairs.map(([of, own, theirs]) => (
        <td key={of} data-differs={theirs !== null && theirs !== own}>
          <code>{own}</code>
          {theirs !== null && theirs !== own && <small>Service: {theirs}</small>}
        </td>
      ))}
      <td>
        <Status tone={isExact ? 'good' : 'bad'}>{isExact ? 'Exact' : 'Differs'}</Status>
      </td>
    </tr>
  )
}

interface StepsProps {
  readonly trial: Trial | null
  readonly kinds: readonly KindState[]
  readonly differing: readonly KindState[]
  readonly explorer: Explorer
}

function Steps({ trial, kinds, differing, explorer }: StepsProps) {
  // The kind with most rows shows best how few calls it takes.
  const [fullest] = [...kinds].sort((one, other) => other.held.count - one.held.count)
  if (fullest === undefined || (fullest.held.count === 0 && differing.length === 0)) return null
  const suspect = differing[0]?.kind ?? trial?.kind ?? fullest.kind
  const isBusy = trial?.step === 'comparing'
  return (
    <div className={css.steps}>
      <p className={css.said} role="status">
        {trial === null ? (
          <span>Break the copy on purpose to see that the comparison finds it.</span>
        ) : (
          <Said trial={trial} />
        )}
      </p>
      <div className={css.buttons}>
        <Button disabled={isBusy} onClick={() => void explorer.breakRow(fullest.kind, 'lost')}>
          Delete a row
        </Button>
        <Button disabled={isBusy} onClick={() => void explorer.breakRow(fullest.kind, 'changed')}>
          Change a row
        </Button>
        <Button
          isBusy={isBusy}
          disabled={differing.length === 0 && !isBusy}
          onClick={() => void explorer.findDifferences(suspect)}
        >
          Find differences
        </Button>
        <Button
          kind="primary"
          disabled={trial?.step !== 'found' || trial.differences.length === 0}
          onClick={() => void explorer.repair()}
        >
          Repair
        </Button>
      </div>
    </div>
  )
}

/** A label may end in a full stop of its own. */
const sentence = (label: string) => (/[.!?…]$/.test(label) ? label : `${label}.`)

function Said({ trial }: { readonly trial: Trial }) {
  if (trial.step === 'broken') {
    return (
      <span>
        {trial.how === 'lost' ? 'Deleted from' : 'Changed in'} the copy: {trial.kind}{' '}
        <strong>{sentence(trial.label)}</strong>{' '}
        {trial.how === 'changed' && 'Only the content digest shows it.'}
      </span>
    )
  }
  if (trial.step === 'comparing') return <span>Comparing digests of ID ranges…</span>
  if (trial.step === 'repaired') {
    return (
      <span>
        {trial.rows.toLocaleString('en')} {trial.rows === 1 ? 'row' : 'rows'} repaired from the service.
      </span>
    )
  }
  if (trial.differences.length === 0) return <span>No row differs: the stream has already repaired it.</span>
  return (
    <span>
      Found with {trial.calls.toLocaleString('en')} calls:{' '}
      {trial.differences.slice(0, 5).map(({ id, type, label }) => (
        <span key={id}>
          <strong>{label || id}</strong> is {type}.{' '}
        </span>
      ))}
      {trial.differences.length > 5 && `And ${(trial.differences.length - 5).toLocaleString('en')} more.`}
    </span>
  )
}
