/** One delivery: each attempt, and the next. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type Attempt, answerOf, api, type Delivery } from '../../api/client.ts'
import { Button } from '../../design/button.tsx'
import { Code, Json } from '../../design/code.tsx'
import { CopyText } from '../../design/copy.tsx'
import { ActionMenu } from '../../design/menu.tsx'
import { Facts, Page, Panel } from '../../design/page.tsx'
import { Empty, ErrorState, Loading } from '../../design/states.tsx'
import { Sign } from '../../design/status.tsx'
import { Countdown, sayMilliseconds, Time } from '../../design/time.tsx'
import { say, sayProblem } from '../../design/toasts.tsx'
import { useCaller } from '../../session/caller.tsx'
import { useEndpoints } from '../endpoints/endpoint-list.ts'
import { hasten } from '../endpoints/recover.tsx'
import css from './delivery.module.css'
import { DeliveryStatus } from './delivery-status.tsx'
import { failureOf, helpFor } from './errors.ts'

const route = getRouteApi('/deliveries/$id')

export function OneDelivery() {
  const { id: deliveryId } = route.useParams()
  const { endpoint: id } = route.useSearch()
  if (id === undefined) {
    return (
      <Page title="Delivery" trail={<Link to="/deliveries">Deliveries</Link>}>
        <Empty title="Of which endpoint?">
          <p>
            The address of a delivery names its endpoint. Find it in the <Link to="/deliveries">list</Link>.
          </p>
        </Empty>
      </Page>
    )
  }
  return <Known path={{ id, deliveryId }} />
}

function Known({ path }: { readonly path: { readonly id: string; readonly deliveryId: string } }) {
  const { may } = useCaller()
  const navigate = route.useNavigate()
  const client = useQueryClient()
  const endpoint = useEndpoints().byId.get(path.id)
  const delivery = useQuery({
    queryKey: ['delivery', path],
    queryFn: ({ signal }) => answerOf(api().webhooks.delivery(path.id, path.deliveryId, { signal })),
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? 1000 : 15_000),
  })
  const attempts = useQuery({
    // The list of attempts only changes with their number.
    queryKey: ['delivery', path, 'attempts', delivery.data?.attemptCount],
    queryFn: ({ signal }) =>
      answerOf(api().webhooks.attempts(path.id, path.deliveryId, { limit: 100 }, { signal }).page()),
    enabled: delivery.isSuccess,
    placeholderData: (held) => held,
  })
  const retry = useMutation({
    mutationFn: () => answerOf(api().webhooks.retry(path.id, path.deliveryId)),
    onSuccess: () => {
      say('It is being sent again.')
      return client.invalidateQueries({ queryKey: ['delivery', path] })
    },
    onError: (error) => sayProblem('It was not sent again', error),
  })

  const resend = useMutation({
    mutationFn: () => answerOf(api().webhooks.resend(path.id, path.deliveryId)),
    onSuccess: (made) => {
      say('It is sent once more, as this delivery.')
      return navigate({ to: '/deliveries/$id', params: { id: made.id }, search: { endpoint: path.id } })
    },
    onError: (error) => sayProblem('It was not sent again', error),
  })

  const hastening = useMutation({
    mutationFn: () => hasten(path.id),
    onSuccess: (count) => {
      say(
        count === 1 ? 'It is attempted now.' : `${count.toLocaleString('en')} that waited are attempted now.`,
      )
      return client.invalidateQueries({ queryKey: ['delivery', path] })
    },
    onError: (error) => sayProblem('It goes on waiting', error),
  })

  const trail = <Link to="/deliveries">Deliveries</Link>
  if (delivery.isPending) {
    return (
      <Page title="Delivery" trail={trail}>
        <Loading />
      </Page>
    )
  }
  if (delivery.error !== null && delivery.data === undefined) {
    return (
      <Page title="Delivery" trail={trail}>
        <ErrorState error={delivery.error} retry={() => void delivery.refetch()} />
      </Page>
    )
  }
  const shown = delivery.data
  const base = `/v1/webhooks/${path.id}/deliveries/${path.deliveryId}`
  return (
    <Page
      title={shown.eventType}
      trail={trail}
      beside={<DeliveryStatus delivery={shown} />}
      actions={
        <>
          {may('webhooks:write') && shown.status === 'pending' && shown.attemptCount > 0 && (
            <Button isBusy={hastening.isPending} onClick={() => hastening.mutate()}>
              Send now what waits
            </Button>
          )}
          {may('webhooks:write') && shown.status === 'succeeded' && (
            <Button isBusy={resend.isPending} onClick={() => resend.mutate()}>
              Send once more
            </Button>
          )}
          {may('webhooks:write') && shown.status === 'failed' && (
            <Button kind="primary" isBusy={retry.isPending} onClick={() => retry.mutate()}>
              Send again
            </Button>
          )}
          <ActionMenu
            calls={[
              { method: 'GET', path: `${base}/attempts` },
              ...(shown.status === 'failed' ? [{ method: 'POST', path: `${base}/retry` } as const] : []),
              ...(shown.status === 'succeeded' ? [{ method: 'POST', path: `${base}/resend` } as const] : []),
            ]}
          />
        </>
      }
    >
      <Panel title="Details">
        <Facts
          of={[
            [
              'Endpoint',
              endpoint === undefined ? (
                <CopyText key="endpoint" text={shown.webhookId} />
              ) : (
                <Link key="endpoint" to="/endpoints/$id" params={{ id: endpoint.id }}>
                  {endpoint.url}
                </Link>
              ),
            ],
            ['Event', <CopyText key="event" text={shown.eventId} short />],
            ['Delivery', <CopyText key="delivery" text={shown.id} short />],
            ['Made', <Time key="made" at={shown.createdAt} />],
          ]}
        />
      </Panel>
      <Panel title="Attempts">
        {attempts.error !== null && attempts.data === undefined && (
          <ErrorState error={attempts.error} retry={() => void attempts.refetch()} />
        )}
        {attempts.isPending && <Loading lines={3} />}
        {attempts.data !== undefined && <Timeline delivery={shown} attempts={attempts.data.data} />}
      </Panel>
      <Payload path={path} status={shown.status} />
    </Page>
  )
}

type Path = { readonly id: string; readonly deliveryId: string }

/** The payload, as it would be sent now; loaded on request. */
function Payload({ path, status }: { readonly path: Path; readonly status: string }) {
  const [isOpen, setOpen] = useState(false)
  const payload = useQuery({
    queryKey: ['delivery', path, 'payload'],
    queryFn: ({ signal }) => answerOf(api().webhooks.payload(path.id, path.deliveryId, { signal })),
    enabled: isOpen,
  })
  return (
    <Panel
      title="Payload"
      actions={
        <Button size="s" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Hide the payload' : 'Show the payload'}
        </Button>
      }
    >
      {isOpen && payload.isPending && <Loading lines={4} />}
      {isOpen && payload.error !== null && (
        <ErrorState error={payload.error} retry={() => void payload.refetch()} />
      )}
      {isOpen && payload.data !== undefined && (
        <Json
          label={status === 'pending' ? 'As it would be sent now' : 'As a retry would send it'}
          value={payload.data}
        />
      )}
    </Panel>
  )
}

/** Attempts, newest first, and above them the next one. */
function Timeline({
  delivery,
  attempts,
}: {
  readonly delivery: Delivery
  readonly attempts: readonly Attempt[]
}) {
  const { status, nextAttemptAt, attemptCount, maxAttempts } = delivery
  const newest = [...attempts].sort((a, b) => b.number - a.number)
  return (
    <ol className={css.wire}>
      {status === 'pending' && nextAttemptAt !== null && (
        <li data-next>
          <Sign tone="quiet" />
          <p>
            Attempt {attemptCount + 1} of {maxAttempts} in <Countdown to={nextAttemptAt} />
          </p>
        </li>
      )}
      {newest.map((attempt) => {
        const failure = failureOf(attempt)
        const help = attempt.error === null ? null : helpFor(attempt.error.code)
        return (
          <li key={attempt.number}>
            <Sign tone={failure === null ? 'good' : 'bad'} />
            <div className={css.attempt}>
              <p className={css.line}>
                <strong>{failure ?? `Delivered: ${attempt.responseStatus}`}</strong>
                <span>
                  attempt {attempt.number}, <Time at={attempt.at} />, took{' '}
                  {sayMilliseconds(attempt.durationMs)}
                </span>
              </p>
              {attempt.error !== null && attempt.responseStatus === null && <p>{attempt.error.message}</p>}
              {help !== null && attempt === newest[0] && <p className={css.help}>{help}</p>}
              {attempt.responseBody !== null && attempt.responseBody !== '' && (
                <Code label="What the receiver answered, its first KiB" text={attempt.responseBody} />
              )}
            </div>
          </li>
        )
      })}
    </ol>
  )
}
