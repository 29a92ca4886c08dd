/** A move that conflicts: the version that the user saw next to the current one. */
import { useState } from 'react'
import { Button } from '../../design/button.tsx'
import { Dialog, DialogActions } from '../../design/dialog.tsx'
import { ErrorState } from '../../design/states.tsx'
import { sayExact, useNow } from '../../design/time.tsx'
import css from '../desk/conflict.module.css'
import { type Booking, sayStatus } from '../desk/objects.ts'
import { type BookingMove, becomes, bookingMoves } from './moves.ts'
import { sayWhen } from './when.ts'

export interface LostMove {
  readonly move: BookingMove
  readonly body: object
  /** The version that the user saw. */
  readonly base: Booking
  readonly theirs: Booking
}

interface MoveConflictProps {
  readonly lost: LostMove
  readonly verb: string
  readonly close: () => void
  /** Makes the move on the current version. Throws refusals. */
  readonly make: () => Promise<void>
}

export function MoveConflict({ lost, verb, close, make }: MoveConflictProps) {
  const { move, body, base, theirs } = lost
  const isAllowed = bookingMoves(theirs, useNow()).includes(move)
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  async function run(): Promise<void> {
    setBusy(true)
    setError(null)
    try {
      await make()
    } catch (thrown) {
      setError(thrown instanceof Error ? thrown : new Error(String(thrown)))
    } finally {
      setBusy(false)
    }
  }
  const mine = { ...base, status: becomes[move] ?? base.status, ...body }
  const sides = [
    ['Status', sayStatus(mine.status), sayStatus(theirs.status)],
    ['When', sayWhen(mine), sayWhen(theirs)],
  ] as const
  return (
    <Dialog
      isOpen
      isWide
      close={close}
      title="Someone else changed this"
      about={
        isAllowed
          ? 'The booking changed while you were editing. Your change is not saved yet.'
          : 'The booking changed while you were editing. Your change is no longer possible.'
      }
    >
      {sides
        .filter(([, yours, their]) => yours !== their)
        .map(([label, yours, their]) => (
          <section key={label} className={css.field} aria-label={label}>
            <h3>{label}</h3>
            <dl className={css.sides}>
              <dt>Yours</dt>
              <dd>{yours}</dd>
              <dt>Theirs</dt>
              <dd>{their}</dd>
            </dl>
          </section>
        ))}
      <p className={css.when}>Theirs was saved {sayExact(Date.parse(theirs.updatedAt))}.</p>
      {error !== null && <ErrorState error={error} />}
      <DialogActions>
        <Button kind={isAllowed ? 'plain' : 'primary'} onClick={close}>
          Keep theirs
        </Button>
        {isAllowed && (
          <Button kind="primary" isBusy={isBusy} onClick={() => void run()}>
            {verb} anyway
          </Button>
        )}
      </DialogActions>
    </Dialog>
  )
}
