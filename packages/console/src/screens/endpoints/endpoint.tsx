/** One endpoint: its health, what is wrong, and what to do about it. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { answerOf, api, type Delivery, type Webhook } from '../../api/client.ts'
import { byOutcome, deliveriesOf, outcomes, sayStepOf, statsQuery } from '../../api/stats.ts'
import { Button } from '../../design/button.tsx'
import { BarChart } from '../../design/chart.tsx'
import { Code } from '../../design/code.tsx'
import { CopyText } from '../../design/copy.tsx'
import { Confirm } from '../../design/dialog.tsx'
import { Field } from '../../design/field.tsx'
import { ActionMenu } from '../../design/menu.tsx'
import { Notice } from '../../design/notice.tsx'
import { Facts, Page, Panel } from '../../design/page.tsx'
import { Select } from '../../design/select.tsx'
import { ErrorState, Loading } from '../../design/states.tsx'
import { Tag } from '../../design/status.tsx'
import { Countdown, sayMilliseconds, Time } from '../../design/time.tsx'
import { say, sayProblem } from '../../design/toasts.tsx'
import { useOffered } from '../../router/offered.ts'
import { useCaller } from '../../session/caller.tsx'
import { DeliveryStatus } from '../deliveries/delivery-status.tsx'
import { causeOf, helpFor, whatFailed } from '../deliveries/errors.ts'
import { sayCondition } from './conditions.ts'
import css from './endpoint.module.css'
import { EndpointForm } from './endpoint-form.tsx'
import { hostOf } from './endpoint-list.ts'
import {
  disabledReasons,
  EndpointStatus,
  healthOf,
  sayBehind,
  useBehind,
  useCatchingUp,
} from './endpoint-status.tsx'
import { RecoverDialog, Recoveries } from './recover.tsx'
import { SecretOnce } from './secret.tsx'

const route = getRouteApi('/endpoints/$id')

export function OneEndpoint() {
  const { id } = route.useParams()
  const endpoint = useQuery({
    queryKey: ['endpoints', id],
    queryFn: ({ signal }) => answerOf(api().webhooks.get(id, { signal })),
    refetchInterval: 5000,
  })
  if (endpoint.data !== undefined) return <Known endpoint={endpoint.data} />
  return (
    <Page title="Endpoint" trail={<Link to="/endpoints">Endpoints</Link>}>
      {endpoint.error === null ? (
        <Loading />
      ) : (
        <ErrorState error={endpoint.error} retry={() => void endpoint.refetch()} />
      )}
    </Page>
  )
}

type Open = 'edit' | 'recover' | 'disable' | 'rotate' | 'delete' | 'end-overlap' | null

/** How long a replaced secret may sign as well, in seconds; by default as the operator has set. */
const overlaps = [
  ['', '24 hours (default)'],
  ['0', 'Immediately'],
  ['3600', '1 hour'],
  ['604800', '7 days'],
] as const

function Known({ endpoint }: { readonly endpoint: Webhook }) {
  const { id, url, description, status, previousSecretExpiresAt } = endpoint
  const path = { id }
  const { may } = useCaller()
  const mayWrite = may('webhooks:write')
  const navigate = route.useNavigate()
  const client = useQueryClient()
  const [open, setOpen] = useState<Open>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const [overlap, setOverlap] = useState('')
  const close = () => setOpen(null)
  const renew = () => client.invalidateQueries({ queryKey: ['endpoints'] })

  const ping = useMutation({
    mutationFn: () => answerOf(api().webhooks.ping(path.id)),
    onError: (error) => sayProblem('Could not ping', error),
  })
  const put = useMutation({
    mutationFn: (next: 'active' | 'paused' | 'disabled') =>
      answerOf(api().webhooks.update(path.id, { status: next })),
    onSuccess: ({ status: now }) => {
      if (now === 'active') say(status === 'paused' ? 'Endpoint resumed' : 'Endpoint enabled')
      else say(now === 'paused' ? 'Endpoint paused' : 'Endpoint disabled')
      return renew()
    },
    onError: (error) => sayProblem('Could not change the endpoint', error),
  })

  useOffered(
    mayWrite
      ? [
          ...(status === 'active' ? [{ title: 'Ping', run: () => ping.mutate() }] : []),
          { title: 'Edit', run: () => setOpen('edit') },
        ]
      : [],
  )
  return (
    <Page
      title={hostOf(url) ?? url}
      trail={<Link to="/endpoints">Endpoints</Link>}
      beside={<EndpointStatus endpoint={endpoint} />}
      about={description ?? undefined}
      actions={
        <>
          {mayWrite && status === 'active' && (
            <Button isBusy={ping.isPending} onClick={() => ping.mutate()}>
              Ping
            </Button>
          )}
          {mayWrite && <Button onClick={() => setOpen('edit')}>Edit</Button>}
          <ActionMenu
            calls={[
              { method: 'GET', path: `/v1/webhooks/${id}` },
              ...(mayWrite ? [{ method: 'POST', path: `/v1/webhooks/${id}/ping` } as const] : []),
            ]}
            actions={
              mayWrite
                ? [
                    { title: 'Resend missed events', run: () => setOpen('recover') },
                    { title: 'Rotate secret', run: () => setOpen('rotate') },
                    ...(status === 'active'
                      ? [{ title: 'Pause', run: () => put.mutate('paused') }]
                      : [
                          {
                            title: status === 'paused' ? 'Resume' : 'Enable',
                            run: () => put.mutate('active'),
                          },
                        ]),
                    ...(status === 'disabled' ? [] : [{ title: 'Disable', run: () => setOpen('disable') }]),
                    { title: 'Delete', run: () => setOpen('delete'), isDangerous: true },
                  ]
                : []
            }
          />
        </>
      }
    >
      {ping.data !== undefined && <PingResult key={ping.data.id} ping={ping.data} />}
      <Trouble
        endpoint={endpoint}
        recover={mayWrite && status === 'active' ? () => setOpen('recover') : null}
        enable={mayWrite ? () => put.mutate('active') : null}
      />
      {previousSecretExpiresAt !== null && (
        <Notice
          tone="wait"
          title="Two active secrets"
          actions={mayWrite && <Button onClick={() => setOpen('end-overlap')}>Expire old secret</Button>}
        >
          <p>
            The old secret expires in <Countdown to={previousSecretExpiresAt} />. Deploy the new one to your
            receiver before then.
          </p>
        </Notice>
      )}
      <Attempts id={id} />
      <Panel title="Details">
        <Facts
          of={[
            ['URL', <CopyText key="address" text={url} />, 'wide'],
            ['ID', <CopyText key="id" text={id} short />],
            [
              'Last success',
              endpoint.lastSuccessAt === null ? 'Never' : <Time key="s" at={endpoint.lastSuccessAt} />,
            ],
            [
              'Missed since',
              endpoint.missedSince === null ? '–' : <Time key="missed" at={endpoint.missedSince} />,
            ],
            ['Added', <Time key="registered" at={endpoint.createdAt} />],
            ['API key', <CopyText key="key" text={endpoint.apiKeyId} short />],
            ...(endpoint.consoleLinkId === null
              ? []
              : [['Console link', <CopyText key="link" text={endpoint.consoleLinkId} short />] as const]),
            [
              'Signatures',
              endpoint.signatures.includes('standard')
                ? `X-Service-Signature, Standard Webhooks${endpoint.signatures.includes('v1a') ? ', Ed25519' : ''}`
                : 'X-Service-Signature',
            ],
            ...optionsOf(endpoint),
          ]}
        />
        <ul className={css.events} aria-label="Events">
          {endpoint.events.map((type) => (
            <li key={type}>
              <Tag>{type}</Tag>
            </li>
          ))}
        </ul>
      </Panel>
      <Latest id={id} />
      <Recoveries endpoint={endpoint} />

      <EndpointForm isOpen={open === 'edit'} close={close} endpoint={endpoint} />
      <RecoverDialog isOpen={open === 'recover'} close={close} endpoint={endpoint} />
      <SecretOnce secret={secret} close={() => setSecret(null)} />
      <Confirm
        isOpen={open === 'disable'}
        close={close}
        title="Disable endpoint?"
        verb="Disable"
        kind="primary"
        act={() => put.mutateAsync('disabled')}
      >
        <p>It receives no events until you enable it. You can then resend missed events.</p>
      </Confirm>
      <Confirm
        isOpen={open === 'rotate'}
        close={close}
        title="Rotate secret?"
        verb="Rotate"
        kind="primary"
        act={async () => {
          const body = overlap === '' ? {} : { overlap: Number(overlap) }
          const rotated = await answerOf(api().webhooks.rotateSecret(path.id, body))
          setSecret(rotated.secret)
          await renew()
        }}
      >
        <p>
          The new secret is shown once. Both secrets sign for a while, so your receiver can switch without
          missing deliveries.
        </p>
        <Field label="Old secret expires after">
          <Select value={overlap} options={overlaps} onChange={setOverlap} />
        </Field>
      </Confirm>
      <Confirm
        isOpen={open === 'end-overlap'}
        close={close}
        title="Expire old secret?"
        verb="Expire"
        act={async () => {
          await answerOf(api().webhooks.deletePreviousSecret(path.id))
          await renew()
        }}
      >
        <p>
          From the next delivery on, only the new secret signs. A receiver with the old secret rejects every
          delivery.
        </p>
      </Confirm>
      <Confirm
        isOpen={open === 'delete'}
        close={close}
        title="Delete endpoint?"
        verb="Delete"
        act={async () => {
          await answerOf(api().webhooks.delete(path.id))
          say('Endpoint deleted')
          await navigate({ to: '/endpoints', search: {} })
          await renew()
        }}
      >
        <p>
          <strong>{url}</strong> receives no more events, and its delivery log is deleted. This cannot be
          undone.
        </p>
      </Confirm>
    </Page>
  )
}

/** The options that it has, each with its value. */
function optionsOf(endpoint: Webhook): (readonly [string, string])[] {
  const {
    headerNames,
    rateLimit,
    maxConcurrent,
    coalesce,
    payload,
    honorRetryAfter,
    disableOn410,
    conditions,
    changedFields,
    includeActor,
    skipOwn,
  } = endpoint
  const options: readonly (readonly [string, string | false | undefined])[] = [
    ['Custom headers', headerNames?.join(', ')],
    ['Rate limit', rateLimit !== undefined && `${rateLimit} per second`],
    ['Concurrent attempts', maxConcurrent !== undefined && `At most ${maxConcurrent}`],
    ['Updates of an object', coalesce !== undefined && `Combined for ${coalesce} s`],
    ['Payload', payload === 'thin' && 'ID and kind only'],
    ['Retry-After', honorRetryAfter && 'Honored'],
    ['On 410', disableOn410 && 'Disable'],
    ['Conditions', conditions?.map(sayCondition).join(' and ')],
    ['Changed fields', changedFields && 'Included'],
    ['Actor', includeActor && 'Included'],
    ['Own events', skipOwn && 'Skipped'],
  ]
  return options.flatMap(([name, value]) => (value ? [[name, value] as const] : []))
}

/** What has come of a ping, as it comes. */
function PingResult({ ping }: { readonly ping: Delivery }) {
  const { id, webhookId } = ping
  const { data = ping } = useQuery({
    queryKey: ['delivery', { id: webhookId, deliveryId: id }],
    queryFn: ({ signal }) => answerOf(api().deliveries.get(webhookId, id, { signal })),
    refetchInterval: ({ state }) => (state.data?.status === 'succeeded' ? false : 1000),
  })
  return (
    <section role="status" className={css.ping} aria-label="Ping">
      <b>Ping</b>
      <DeliveryStatus delivery={data} />
      <span>{causeOf(data)}</span>
      <Link to="/deliveries/$id" params={{ id }} search={{ endpoint: webhookId }}>
        View delivery
      </Link>
    </section>
  )
}

/** False for an endpoint that was resumed or enabled, which clears its failure, and may still be down. */
function hasSucceededSince({ missedSince, lastSuccessAt }: Webhook): boolean {
  return lastSuccessAt !== null && lastSuccessAt > (missedSince ?? '')
}

/** The deliveries and events that have not arrived: from when until when, and how many. */
function Outage({ endpoint }: { readonly endpoint: Webhook }) {
  const { id, missedSince, failingSince, disabledAt, lastSuccessAt } = endpoint
  const [pending, failed] = [useBehind(id, 'pending'), useBehind(id, 'failed')]
  const isOver = failingSince === null && disabledAt === null && hasSucceededSince(endpoint)
  const from = [missedSince, failingSince].filter((at) => at !== null).sort()[0]
  return (
    <div className={css.outage}>
      <Facts
        of={[
          ...(from === undefined
            ? []
            : [
                ['From', <Time key="from" at={from} />] as const,
                [
                  'Until',
                  isOver && lastSuccessAt !== null ? <Time key="until" at={lastSuccessAt} /> : 'Now',
                ] as const,
              ]),
          ['Failed deliveries', failed === undefined ? '' : sayBehind(failed)],
          ['Pending deliveries', pending === undefined ? '' : sayBehind(pending)],
        ]}
      />
    </div>
  )
}

/** What is wrong with it, if anything: since when, why, and what to do. */
function Trouble({
  endpoint,
  recover,
  enable,
}: {
  readonly endpoint: Webhook
  readonly recover: (() => void) | null
  readonly enable: (() => void) | null
}) {
  const health = healthOf(endpoint)
  const { id, failingSince, disablesAt, failureCount, disabledAt, disabledReason, missedSince } = endpoint
  const last = useQuery({
    queryKey: ['deliveries', 'last failure', id],
    // The newest of a busy endpoint were not tried yet: the first that failed says why.
    queryFn: async ({ signal }) => {
      const before = {
        status: 'undelivered',
        createdBefore: failingSince ?? disabledAt ?? undefined,
      } as const
      const pages = [{}, before].map((filter) =>
        answerOf(
          api()
            .webhooks.deliveries(id, { ...filter, limit: 20 }, { signal })
            .page(),
        ),
      )
      return (await Promise.all(pages)).flatMap(({ data }) => data)
    },
    enabled: health === 'failing' || disabledReason === 'failing',
    refetchInterval: 10_000,
  })
  const isCatchingUp = useCatchingUp(id, health === 'well')
  const failed = last.data?.find(({ lastError }) => lastError !== null)
  const attempts = useQuery({
    queryKey: ['last answer', id, failed?.id, failed?.attemptCount],
    queryFn: ({ signal }) =>
      answerOf(
        api()
          .deliveries.attempts(id, failed?.id ?? '', { limit: 1 }, { signal })
          .page(),
      ),
    enabled: failed !== undefined,
    placeholderData: (held) => held,
  })
  const answer = attempts.data?.data[0]?.responseBody
  const ping = last.data?.find(({ eventType, status }) => eventType === 'ping' && status === 'succeeded')
  const isBack = (ping?.deliveredAt ?? '') > (failed?.lastAttemptAt ?? '')
  const why = failed === undefined ? null : whatFailed(failed)
  const help = failed?.lastError == null ? null : helpFor(failed.lastError.code)
  const log = (
    <Link to="/deliveries" search={{ endpoint: id }}>
      View deliveries
    </Link>
  )
  if (health === 'failing' && failingSince !== null) {
    return (
      <Notice
        tone="bad"
        title={why ?? 'Deliveries are failing'}
        actions={
          recover !== null && (
            <Button kind="primary" onClick={recover}>
              Resend missed events
            </Button>
          )
        }
      >
        <Outage endpoint={endpoint} />
        {answer != null && answer !== '' && <Code label="Last response" text={answer} />}
        {isBack ? <p>A ping has succeeded since. Resend missed events.</p> : help !== null && <p>{help}</p>}
        <p>
          Failing since <Time at={failingSince} />: {failureCount}{' '}
          {failureCount === 1 ? 'attempt' : 'attempts'} without a success. {log}
        </p>
        {disablesAt !== null && (
          <p>
            It will be disabled in <Countdown to={disablesAt} /> unless an attempt succeeds.
          </p>
        )}
      </Notice>
    )
  }
  if (health === 'missed' || (health === 'well' && isCatchingUp)) {
    return (
      <Notice
        tone="wait"
        title={health === 'missed' ? 'Missed events' : 'Pending deliveries'}
        actions={
          recover !== null && (
            <Button kind="primary" onClick={recover}>
              Resend missed events
            </Button>
          )
        }
      >
        <p>
          {hasSucceededSince(endpoint)
            ? 'The endpoint is receiving again, but events of its outage are missing.'
            : 'No delivery has succeeded since the outage began. Send a ping to test the endpoint.'}{' '}
          {log}
        </p>
        <Outage endpoint={endpoint} />
      </Notice>
    )
  }
  if (health === 'paused')
    return (
      <Notice
        tone="wait"
        title="Paused"
        actions={enable !== null && <Button onClick={enable}>Resume</Button>}
      >
        <p>Deliveries are kept as pending, and sent when you resume the endpoint. {log}</p>
      </Notice>
    )
  if (health !== 'disabled') return null
  return (
    <Notice
      tone="wait"
      title={disabledReasons[disabledReason ?? ''] ?? 'Disabled'}
      actions={enable !== null && <Button onClick={enable}>Enable</Button>}
    >
      {why !== null && (
        <p>
          {why}. {help}
        </p>
      )}
      <p>
        No events have been sent
        {disabledAt !== null && (
          <>
            {' since '}
            <Time at={disabledAt} />
          </>
        )}
        {missedSince !== null && (
          <>
            . The first missed event is from <Time at={missedSince} />
          </>
        )}
        . Enable the endpoint, then resend missed events. {log}
      </p>
    </Notice>
  )
}

/** A delivery may have many attempts: the counts are named apart. */
const attemptOutcomes = outcomes.map((one) => ({ ...one, title: `${one.title} attempts` }))

/** Its attempts in the last hour. */
function Attempts({ id }: { readonly id: string }) {
  const stats = useQuery(statsQuery('hour', id))
  const p95 = stats.data?.total.p95 ?? null
  return (
    <Panel
      title="Attempts in the last hour"
      actions={
        p95 !== null && (
          <span className={css.none}>
            p95 <b className="number">{sayMilliseconds(p95)}</b>
          </span>
        )
      }
    >
      {stats.error !== null && stats.data === undefined && (
        <ErrorState error={stats.error} retry={() => void stats.refetch()} />
      )}
      {stats.isPending && <Loading lines={4} />}
      {stats.data !== undefined && (
        <BarChart
          title="Attempts per minute"
          series={attemptOutcomes}
          points={byOutcome(stats.data.data)}
          sayStep={sayStepOf('hour')}
          height={130}
          to={deliveriesOf('hour', id)}
        />
      )}
    </Panel>
  )
}

/** The newest deliveries. */
function Latest({ id }: { readonly id: string }) {
  const latest = useQuery({
    queryKey: ['deliveries', 'latest', id],
    queryFn: ({ signal }) => answerOf(api().webhooks.deliveries(id, { limit: 8 }, { signal }).page()),
    refetchInterval: 3000,
  })
  const rows = latest.data?.data ?? []
  return (
    <Panel
      title="Latest deliveries"
      actions={
        <Link to="/deliveries" search={{ endpoint: id }} aria-label="View all deliveries of this endpoint">
          View all
        </Link>
      }
    >
      {latest.isPending && <Loading lines={4} />}
      {latest.isSuccess && rows.length === 0 && (
        <p className={css.none}>No deliveries yet. Ping the endpoint to test it.</p>
      )}
      <ol className={css.latest}>
        {rows.map((delivery) => (
          <li key={delivery.id}>
            <Link to="/deliveries/$id" params={{ id: delivery.id }} search={{ endpoint: id }}>
              <code>{delivery.eventType}</code>
            </Link>
            <DeliveryStatus delivery={delivery} />
            <span>{causeOf(delivery)}</span>
            <Time at={delivery.createdAt} />
          </li>
        ))}
      </ol>
    </Panel>
  )
}
