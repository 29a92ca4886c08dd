/** Moves of a booking that need input: when, why, by whom. */
import { useRef } from 'react'
import { Button } from '../../design/button.tsx'
import { Dialog, DialogActions } from '../../design/dialog.tsx'
import { Field, Form, FormError, fieldErrors, TextArea } from '../../design/field.tsx'
import { FormSelect } from '../../design/form-select.tsx'
import { endAfter, fromLocal, readLocal, toLocal } from '../../design/local-time.ts'
import { TimeInput } from '../../design/time-input.tsx'
import { useDraftForm } from '../../session/draft-form.ts'
import { Meanwhile } from '../desk/meanwhile.tsx'
import { type Booking, useCustomers } from '../desk/objects.ts'
import { Overlaps } from './overlaps.tsx'
import { sayWhenThere } from './when.ts'

export type AskedMove = 'reject' | 'cancel' | 'reschedule'

interface Values {
  reason: string
  by: string
  startAt: string
  endAt: string
}

const titles: Readonly<Record<AskedMove, string>> = {
  reject: 'Reject booking',
  cancel: 'Cancel booking',
  reschedule: 'Reschedule booking',
}

const cancellers = [
  ['customer', 'Customer'],
  ['teammate', 'Teammate'],
  ['system', 'System'],
] as const

interface MoveFormProps {
  readonly move: AskedMove
  readonly booking: Booking
  readonly verb: string
  readonly close: () => void
  /** Makes the move to the version that the form was opened on, and closes the form unless it throws. */
  readonly make: (base: Booking, body: object) => Promise<void>
}

export function MoveForm({ move, booking, verb, close, make }: MoveFormProps) {
  const { form, base, before, forget } = useDraftForm<Values, Booking>(
    `${move} ${booking.id}`,
    booking,
    ({ startAt, endAt }) => ({
      reason: '',
      by: 'customer',
      startAt: toLocal(startAt),
      endAt: toLocal(endAt),
    }),
  )
  const { errors, isSubmitting } = form.formState
  const start = useRef(before.startAt)
  const zone = useCustomers([booking.customerId]).get(booking.customerId ?? '')?.timezone ?? booking.timezone
  const [startAt, endAt] = form.watch(['startAt', 'endAt']).map((text) => fromLocal(text))
  const there = startAt && endAt && endAt > startAt && sayWhenThere({ startAt, endAt, timezone: zone })
  function moveEnd(value: string): void {
    const moved = endAfter(form.getValues('endAt'), start.current, value)
    if (readLocal(value) !== null) start.current = value
    if (moved !== undefined) form.setValue('endAt', moved)
  }

  function leave(): void {
    forget()
    close()
  }

  async function send({ reason, by, startAt, endAt }: Values): Promise<void> {
    const isMoved = startAt !== before.startAt || endAt !== before.endAt
    if (move === 'reschedule' && !isMoved) return leave()
    const why = { reason: reason.trim() === '' ? null : reason.trim() }
    const body = {
      reject: why,
      cancel: { by, ...why },
      // The service refuses an invalid time.
      reschedule: {
        startAt: fromLocal(startAt, base.startAt) ?? startAt,
        endAt: fromLocal(endAt, base.endAt) ?? endAt,
      },
    }[move]
    try {
      await make(base, body)
      forget()
    } catch (error) {
      fieldErrors(error, form.setError, ['reason', 'by', 'startAt', 'endAt'])
    }
  }

  return (
    <Dialog isOpen close={leave} title={titles[move]}>
      {!isSubmitting && <Meanwhile base={base} now={booking} />}
      <Form isBusy={isSubmitting} onSubmit={(event) => void form.handleSubmit(send)(event)}>
        {move === 'reschedule' && (
          <>
            <Field label="Start" error={errors.startAt?.message}>
              <TimeInput {...form.register('startAt', { onChange: ({ target }) => moveEnd(target.value) })} />
            </Field>
            <Field label="End" error={errors.endAt?.message}>
              <TimeInput {...form.register('endAt')} />
            </Field>
            {startAt && endAt && <Overlaps of={{ ...booking, startAt, endAt }} />}
            {there && (
              <p role="status">
                {there} in {zone}
              </p>
            )}
          </>
        )}
        {move === 'cancel' && (
          <Field label="Cancelled by" error={errors.by?.message}>
            <FormSelect control={form.control} name="by" options={cancellers} />
          </Field>
        )}
        {move !== 'reschedule' && (
          <Field label="Reason" hint="Shown with the booking." error={errors.reason?.message}>
            <TextArea {...form.register('reason')} />
          </Field>
        )}
        <FormError message={errors.root?.message} />
        <DialogActions>
          <Button onClick={leave}>Back</Button>
          <Button kind={move === 'reschedule' ? 'primary' : 'danger'} type="submit" isBusy={isSubmitting}>
            {verb}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  )
}
