/** One delivery: each attempt, and the next. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, Navigate } from '@tanstack/react-router'
import { type Attempt, answerOf, api, type Delivery, type Webhook } from '../../api/client.ts'
import { ApiProblem } from '../../api/problem.ts'
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
import { useView } from '../../session/view.ts'
import { endpointsQuery, useEndpoints } from '../endpoints/endpoint-list.ts'
import { retryNow } from '../endpoints/recover.tsx'
import { prefill } from '../signature-tester/prefilled.ts'
import css from './delivery.module.css'
import { DeliveryStatus } from './delivery-status.tsx'
import { failureOf, helpFor } from './errors.ts'

const route = getRouteApi('/deliveries/$id')

export function OneDelivery() {
  const { id: deliveryId } = route.useParams()
  const { endpoint: id } = route.useSearch()
  if (id === undefined) return <Unplaced deliveryId={deliveryId} />
  return <Known path={{ id, deliveryId }} />
}

/** An address that does not name the endpoint: each is asked. */
function Unplaced({ deliveryId }: { readonly deliveryId: string }) {
  const client = useQueryClient()
  const found = useQuery({
    queryKey: ['delivery', deliveryId, 'endpoint'],
    queryFn: async ({ signal }) => {
      const { data } = await client.ensureQueryData(endpointsQuery)
      for (const { id } of data) {
        try {
          await answerOf(api().deliveries.get(id, deliveryId, { signal }))
          return id
        } catch (error) {
          if (!(error instanceof ApiProblem) || error.status !== 404) throw error
        }
      }
      return null
    },
  })
  if (typeof found.data === 'string') {
    return (
      <Navigate to="/deliveries/$id" params={{ id: deliveryId }} search={{ endpoint: found.data }} replace />
    )
  }
  return (
    <Page title="Delivery" trail={<Link to="/deliveries">Deliveries</Link>}>
      {found.data === null ? (
        <Empty title="Delivery not found">
          <p>
            No endpoint has a delivery with this id. <Link to="/deliveries">View all deliveries</Link>
          </p>
        </Empty>
      ) : found.error === null ? (
        <Loading />
      ) : (
        <ErrorState error={found.error} retry={() => void found.refetch()} />
      )}
    </Page>
  )
}

function Known({ path }: { readonly path: { readonly id: string; readonly deliveryId: string } }) {
  const { may } = useCaller()
  const navigate = route.useNavigate()
  const client = useQueryClient()
  const endpoint = useEndpoints().byId.get(path.id)
  const delivery = useQuery({
    queryKey: ['delivery', path],
    queryFn: ({ signal }) => answerOf(api().deliveries.get(path.id, path.deliveryId, { signal })),
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? 1000 : 15_000),
  })
  const attempts = useQuery({
    // The list of attempts only changes with their number.
    queryKey: ['delivery', path, 'attempts', delivery.data?.attemptCount],
    queryFn: ({ signal }) =>
      answerOf(api().deliveries.attempts(path.id, path.deliveryId, { limit: 100 }, { signal }).page()),
    enabled: delivery.isSuccess,
    placeholderData: (held) => held,
  })
  const retry = useMutation({
    mutationFn: () => answerOf(api().deliveries.retry(path.id, path.deliveryId)),
    onSuccess: () => {
      say('Delivery resent')
      return client.invalidateQueries({ queryKey: ['delivery', path] })
    },
    onError: (error) => sayProblem('Could not resend the delivery', error),
  })

  const resend = useMutation({
    mutationFn: () => answerOf(api().deliveries.resend(path.id, path.deliveryId)),
    onSuccess: (made) => {
      say('Delivery resent')
      return navigate({ to: '/deliveries/$id', params: { id: made.id }, search: { endpoint: path.id } })
    },
    onError: (error) => sayProblem('Could not resend the delivery', error),
  })

  const retrying = useMutation({
    mutationFn: () => retryNow(path.id),
    onSuccess: (count) => {
      say(
        count === 1
          ? '1 pending delivery retried'
          : `${count.toLocaleString('en')} pending deliveries retried`,
      )
      return client.invalidateQueries({ queryKey: ['delivery', path] })
    },
    onError: (error) => sayProblem('Could not retry', error),
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
            <Button isBusy={retrying.isPending} onClick={() => retrying.mutate()}>
              Retry pending deliveries
            </Button>
          )}
          {may('webhooks:write') && shown.status === 'succeeded' && (
            <Button isBusy={resend.isPending} onClick={() => resend.mutate()}>
              Resend
            </Button>
          )}
          {may('webhooks:write') && shown.status === 'failed' && (
            <Button kind="primary" isBusy={retry.isPending} onClick={() => retry.mutate()}>
              Resend
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
            ['Created', <Time key="made" at={shown.createdAt} />],
          ]}
        />
      </Panel>
      <Exchange
        path={path}
        delivery={shown}
        endpoint={endpoint}
        last={attempts.data?.data.toSorted((a, b) => b.number - a.number)[0]}
      />
      <Panel title="Attempts">
        {attempts.error !== null && attempts.data === undefined && (
          <ErrorState error={attempts.error} retry={() => void attempts.refetch()} />
        )}
        {attempts.isPending && <Loading lines={3} />}
        {attempts.data !== undefined && <Timeline delivery={shown} attempts={attempts.data.data} />}
      </Panel>
    </Page>
  )
}

type Path = { readonly id: string; readonly deliveryId: string }

interface ExchangeProps {
  readonly path: Path
  readonly delivery: Delivery
  readonly endpoint: Webhook | undefined
  readonly last: Attempt | undefined
}

/** The request as the next attempt sends it, and the response to the last one. */
function Exchange({ path, delivery, endpoint, last }: ExchangeProps) {
  const { shows } = useView()
  const navigate = route.useNavigate()
  const payload = useQuery({
    queryKey: ['delivery', path, 'payload'],
    queryFn: ({ signal }) => answerOf(api().deliveries.payload(path.id, path.deliveryId, { signal })),
    staleTime: Infinity,
  })
  const headers = headersOf(delivery, endpoint)
  function test(): void {
    const at = last && Math.floor(Date.parse(last.at) / 1000)
    // A signature that says `…` can never fit.
    const unsigned = headers.replace(/^.*….*\n?/gm, '')
    prefill({ headers: unsigned, body: JSON.stringify(payload.data), ...(at && { at }) })
    void navigate({ to: '/signature-tester' })
  }
  return (
    <div className={css.sides}>
      <Panel
        title="Request"
        actions={
          payload.data !== undefined &&
          shows('/signature-tester') && (
            <Button size="s" onClick={test}>
              Open in the signature tester
            </Button>
          )
        }
      >
        {endpoint !== undefined && <p className={css.url}>POST {endpoint.url}</p>}
        <Code label="Headers" text={headers} />
        {payload.isPending && <Loading lines={4} />}
        {payload.error !== null && <ErrorState error={payload.error} retry={() => void payload.refetch()} />}
        {payload.data !== undefined && <Json label="Payload" value={payload.data} />}
      </Panel>
      <Panel title="Response">
        {last === undefined ? (
          <p className={css.url}>No attempts yet.</p>
        ) : (
          <>
            <p className={css.url}>
              {last.responseStatus === null ? 'No response' : `HTTP ${last.responseStatus}`},{' '}
              <Time at={last.at} />, {sayMilliseconds(last.durationMs)}
            </p>
            {last.responseBody ? (
              <Code label="Body (first KiB)" text={last.responseBody} />
            ) : (
              <p className={css.url}>{last.error?.message ?? 'No body.'}</p>
            )}
          </>
        )}
      </Panel>
    </div>
  )
}

/** Signatures are made anew for each attempt, and are not stored. */
function headersOf({ eventId, eventType }: Delivery, endpoint: Webhook | undefined): string {
  const isStandard = endpoint?.signatures?.some((one) => one !== 'service')
  return [
    'Content-Type: application/json',
    `X-Service-Event-Id: ${eventId}`,
    `X-Service-Event-Type: ${eventType}`,
    'X-Service-Signature: t=…,v1=…',
    ...(isStandard ? [`webhook-id: ${eventId}`, 'webhook-timestamp: …', 'webhook-signature: …'] : []),
  ].join('\n')
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
                <strong>{failure ?? `Succeeded: HTTP ${attempt.responseStatus}`}</strong>
                <span>
                  attempt {attempt.number}, <Time at={attempt.at} />, {sayMilliseconds(attempt.durationMs)}
                </span>
              </p>
              {attempt.error !== null && attempt.responseStatus === null && <p>{attempt.error.message}</p>}
              {help !== null && attempt === newest[0] && <p className={css.help}>{help}</p>}
              {attempt !== newest[0] && attempt.responseBody !== null && attempt.responseBody !== '' && (
                <Code label="Response body (first KiB)" text={attempt.responseBody} />
              )}
            </div>
          </li>
        )
      })}
    </ol>
  )
}
