/** Replays missed events of an endpoint: everything since a time, as one job. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { answerOf, api, type Recovery, type Webhook } from '../../api/client.ts'
import { Button } from '../../design/button.tsx'
import { Dialog, DialogActions } from '../../design/dialog.tsx'
import { Checkbox, Field, Form, FormError, fieldErrors } from '../../design/field.tsx'
import { fromLocal, toLocal } from '../../design/local-time.ts'
import { Panel } from '../../design/page.tsx'
import { Status } from '../../design/status.tsx'
import { Time } from '../../design/time.tsx'
import { TimeInput } from '../../design/time-input.tsx'
import { say } from '../../design/toasts.tsx'
import { sayBehind, useBehind } from './endpoint-status.tsx'
import css from './recover.module.css'

export function RecoverDialog({
  isOpen,
  close,
  endpoint,
}: {
  readonly isOpen: boolean
  readonly close: () => void
  readonly endpoint: Webhook
}) {
  return (
    <Dialog
      isOpen={isOpen}
      close={close}
      title="Resend missed events"
      about="Sends every undelivered event since then, oldest first: failed deliveries, events from while the endpoint was disabled, and pending deliveries. Delivered events are not sent again."
    >
      {isOpen && <RecoverForm close={close} endpoint={endpoint} />}
    </Dialog>
  )
}

function RecoverForm({ close, endpoint }: { readonly close: () => void; readonly endpoint: Webhook }) {
  const client = useQueryClient()
  const [prefilled] = useState(() => endpoint.missedSince ?? lately(endpoint))
  const form = useForm({ defaultValues: { since: toLocal(prefilled), includeSucceeded: false } })
  const { errors, isSubmitting } = form.formState
  const hint =
    endpoint.missedSince === null
      ? 'No delivery has failed for good. Pending deliveries are retried at once.'
      : 'The first missed event in the log.'

  async function send(values: { since: string; includeSucceeded: boolean }): Promise<void> {
    const isEdited = values.since !== toLocal(prefilled)
    // An unedited value follows the endpoint, whose log goes on.
    const since = isEdited ? fromLocal(values.since, prefilled) : (endpoint.missedSince ?? prefilled)
    if (since === null) {
      form.setError('since', { message: 'Enter a date and a time.' })
      return
    }
    try {
      const retried = await retryNow(endpoint.id)
      const { id } = await answerOf(
        api().webhooks.recover(
          endpoint.id,
          values.includeSucceeded ? { since, includeSucceeded: true } : { since },
        ),
      )
      client.setQueryData(['retried-now', id], retried)
      say(retried === 0 ? 'Resend started' : `Resend started, ${sayCount(retried)} pending retried`)
      await client.invalidateQueries({ queryKey: ['deliveries'] })
      await client.invalidateQueries({ queryKey: ['recoveries', endpoint.id] })
      close()
    } catch (error) {
      fieldErrors(error, form.setError, ['since'])
    }
  }

  return (
    <Form onSubmit={(event) => void form.handleSubmit(send)(event)}>
      <Waiting id={endpoint.id} />
      <Field label="Since" hint={hint} error={errors.since?.message}>
        <TimeInput {...form.register('since')} />
      </Field>
      <Checkbox
        label="Also resend delivered events, each as a new delivery"
        {...form.register('includeSucceeded')}
      />
      <FormError message={errors.root?.message} />
      <DialogActions>
        <Button onClick={close}>Cancel</Button>
        <Button kind="primary" type="submit" isBusy={isSubmitting}>
          Resend
        </Button>
      </DialogActions>
    </Form>
  )
}

/** Where nothing is known to be missed: the last day. */
function lately({ createdAt }: Webhook): string {
  const yesterday = new Date(Date.now() - 24 * 3_600_000).toISOString()
  return createdAt > yesterday ? createdAt : yesterday
}

/** Retries pending deliveries now; resolves with their number. */
export async function retryNow(id: string): Promise<number> {
  for (let sum = 0; ; ) {
    const { retried, hasMore } = await answerOf(api().webhooks.retryNow(id))
    sum += retried
    if (!hasMore) return sum
  }
}

/** How much would be sent. */
function Waiting({ id }: { readonly id: string }) {
  const [waiting, failed] = [useBehind(id, 'pending'), useBehind(id, 'failed')]
  if (waiting === undefined || failed === undefined) return null
  return (
    <p>
      <b className="number">{sayBehind(waiting)}</b> pending, <b className="number">{sayBehind(failed)}</b>{' '}
      failed. Events from while the endpoint was disabled are added.
    </p>
  )
}

const sayCount = (count: number) => count.toLocaleString('en')

/** The latest recoveries of an endpoint, with their progress. */
export function Recoveries({ endpoint: { id, status, missedSince } }: { readonly endpoint: Webhook }) {
  const behind = [useBehind(id, 'pending'), useBehind(id, 'failed')]
  const { data } = useQuery({
    queryKey: ['recoveries', id],
    queryFn: ({ signal }) => answerOf(api().webhooks.recoveries(id, { limit: 5 }, { signal }).page()),
    refetchInterval: ({ state }) =>
      state.data?.data.some(({ status }) => status === 'running') ? 1000 : 30_000,
  })
  if (data === undefined || data.data.length === 0) return null
  const isComplete =
    status === 'active' &&
    missedSince === null &&
    data.data[0]?.status === 'done' &&
    behind.every((one) => one?.count === 0)
  return (
    <Panel title="Resend history" actions={isComplete && <Status tone="good">Nothing is missing</Status>}>
      <ol className={css.list}>
        {data.data.map((recovery) => (
          <li key={recovery.id}>
            <Progress recovery={recovery} />
          </li>
        ))}
      </ol>
    </Panel>
  )
}

function Progress({
  recovery: { id, status, retried, created, since, createdAt },
}: {
  readonly recovery: Recovery
}) {
  const count = retried + created
  // The job does not count them: known to the tab that has started it.
  const { data: retriedNow = 0 } = useQuery<number>({ queryKey: ['retried-now', id], enabled: false })
  return (
    <>
      <Status tone={status === 'done' ? 'good' : 'wait'}>
        {status === 'done' ? 'Completed' : 'Running'}
      </Status>
      <span className="number">
        {count > 0 && `${sayCount(count)} resent`}
        {created > 0 && `, ${sayCount(created)} of them sent for the first time`}
        {count > 0 && retriedNow > 0 && ', '}
        {retriedNow > 0 &&
          `${sayCount(retriedNow)} pending ${retriedNow === 1 ? 'delivery' : 'deliveries'} retried`}
        {count + retriedNow === 0 && 'Nothing to resend'}
      </span>
      <span>
        since <Time at={since} />, started <Time at={createdAt} />
      </span>
    </>
  )
}
