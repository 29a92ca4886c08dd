/** Moves of a booking that need input: when, why, by whom. */
import { useForm } from 'react-hook-form'
import { Button } from '../../design/button.tsx'
import { Dialog, DialogActions } from '../../design/dialog.tsx'
import { Field, Form, FormError, fieldErrors, Select, TextArea, TextInput } from '../../design/field.tsx'
import { fromLocal, readersZone, toLocal } from '../desk/form-values.ts'
import type { Booking } from '../desk/objects.ts'

export type AskedMove = 'reject' | 'cancel' | 'reschedule'

interface Values {
  reason: string
  by: string
  startAt: string
  endAt: string
}

const titles: Readonly<Record<AskedMove, string>> = {
  reject: 'Reject this booking',
  cancel: 'Cancel this booking',
  reschedule: 'Move this booking',
}

interface MoveFormProps {
  readonly move: AskedMove
  readonly booking: Booking
  readonly verb: string
  readonly close: () => void
  /** Closes the form unless it throws. */
  readonly make: (body: object) => Promise<void>
}

export function MoveForm({ move, booking, verb, close, make }: MoveFormProps) {
  const form = useForm<Values>({
    defaultValues: {
      reason: '',
      by: 'customer',
      startAt: toLocal(booking.startAt),
      endAt: toLocal(booking.endAt),
    },
  })
  const { errors, isSubmitting } = form.formState

  async function send({ reason, by, startAt, endAt }: Values): Promise<void> {
    const isMoved = startAt !== toLocal(booking.startAt) || endAt !== toLocal(booking.endAt)
    if (move === 'reschedule' && !isMoved) return close()
    const why = { reason: reason.trim() === '' ? null : reason.trim() }
    const body = {
      reject: why,
      cancel: { by, ...why },
      // The service refuses an invalid time.
      reschedule: {
        startAt: fromLocal(startAt, booking.startAt) ?? startAt,
        endAt: fromLocal(endAt, booking.endAt) ?? endAt,
      },
    }[move]
    try {
      await make(body)
    } catch (error) {
      fieldErrors(error, form.setError, ['reason', 'by', 'startAt', 'endAt'])
    }
  }

  return (
    <Dialog isOpen close={close} title={titles[move]}>
      <Form onSubmit={(event) => void form.handleSubmit(send)(event)}>
        {move === 'reschedule' && (
          <>
            <Field label="From" hint={`Times in ${readersZone}.`} error={errors.startAt?.message}>
              <TextInput type="datetime-local" step="any" {...form.register('startAt')} />
            </Field>
            <Field label="To" error={errors.endAt?.message}>
              <TextInput type="datetime-local" step="any" {...form.register('endAt')} />
            </Field>
          </>
        )}
        {move === 'cancel' && (
          <Field label="Who cancels it" error={errors.by?.message}>
            <Select {...form.register('by')}>
              <option value="customer">The customer</option>
              <option value="teammate">A teammate</option>
              <option value="system">The system</option>
            </Select>
          </Field>
        )}
        {move !== 'reschedule' && (
          <Field label="Why" hint="Those who read the booking see it." error={errors.reason?.message}>
            <TextArea {...form.register('reason')} />
          </Field>
        )}
        <FormError message={errors.root?.message} />
        <DialogActions>
          <Button onClick={close}>Back</Button>
          <Button kind={move === 'reschedule' ? 'primary' : 'danger'} type="submit" isBusy={isSubmitting}>
            {verb}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  )
}
