/** The state of everything at a glance: events, pending deliveries, failing endpoints, changes. */
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { answerOf, api, type Webhook } from '../../api/client.ts'
import {
  byOutcome,
  deliveriesOf,
  failedOf,
  outcomes,
  type Span,
  type Stats,
  type StatsPoint,
  sayStepOf,
  spanOf,
  spans,
  statsQuery,
} from '../../api/stats.ts'
import { BarChart, Sparkline } from '../../design/chart.tsx'
import { ActionMenu } from '../../design/menu.tsx'
import { Page, Panel } from '../../design/page.tsx'
import { Empty, ErrorState, Forbidden, Loading } from '../../design/states.tsx'
import { Switch } from '../../design/switch.tsx'
import { sayMilliseconds, Time } from '../../design/time.tsx'
import { useCaller } from '../../session/caller.tsx'
import { endpointsQuery, hostOf } from '../endpoints/endpoint-list.ts'
import { EndpointStatus, healthOf } from '../endpoints/endpoint-status.tsx'
import { Attention } from './attention.tsx'
import { Checklist } from './checklist.tsx'
import css from './overview.module.css'

const route = getRouteApi('/')

export function Overview() {
  const { may, organization } = useCaller()
  const span = spanOf(route.useSearch().span)
  const navigate = route.useNavigate()
  const mayRead = may('webhooks:read')
  return (
    <Page
      title="Overview"
      about={organization.name}
      actions={
        mayRead && (
          <>
            <Switch
              label="Span"
              value={span}
              options={(Object.keys(spans) as Span[]).map((each) => [each, spans[each].title])}
              onChange={(next) => void navigate({ search: { span: next }, replace: true })}
            />
            <ActionMenu
              calls={[
                { method: 'GET', path: '/v1/stats', query: { step: spans[span].step } },
                { method: 'GET', path: '/v1/deliveries', query: { status: 'pending' } },
              ]}
            />
          </>
        )
      }
    >
      <Attention />
      <Checklist />
      {mayRead ? <Delivering span={span} /> : <Forbidden scope="webhooks:read" />}
    </Page>
  )
}

function Delivering({ span }: { readonly span: Span }) {
  const stats = useQuery(statsQuery(span, null))
  const endpoints = useQuery(endpointsQuery)
  const { per } = spans[span]
  if (stats.error !== null && stats.data === undefined) {
    return <ErrorState error={stats.error} retry={() => void stats.refetch()} />
  }
  return (
    <>
      <Figures stats={stats.data} span={span} />
      <Panel title={`Attempts per ${per}`}>
        {stats.data === undefined ? (
          <Loading lines={5} />
        ) : (
          <BarChart
            title={`Attempts per ${per}`}
            series={outcomes}
            points={byOutcome(stats.data.data)}
            sayStep={sayStepOf(span)}
            to={deliveriesOf(span)}
          />
        )}
      </Panel>
      <div className={css.halves}>
        <Panel title="Endpoints" actions={<Link to="/endpoints">All endpoints</Link>}>
          {endpoints.isPending && <Loading lines={4} />}
          {endpoints.error !== null && endpoints.data === undefined && (
            <ErrorState error={endpoints.error} retry={() => void endpoints.refetch()} />
          )}
          {endpoints.data !== undefined && <ByHealth endpoints={endpoints.data.data} />}
        </Panel>
        <Panel title={`Changes in the last ${spans[span].title.toLowerCase()}`}>
          {stats.data === undefined ? <Loading lines={4} /> : <Changes points={stats.data.data} />}
        </Panel>
      </div>
    </>
  )
}

function Figures({ stats, span }: { readonly stats: Stats | undefined; readonly span: Span }) {
  const waiting = useQuery({
    queryKey: ['deliveries', 'waiting'],
    queryFn: readWaiting,
    refetchInterval: 5000,
  })
  const delivered = stats?.total.succeeded
  const failed = stats && failedOf(stats.total)
  const p95 = stats?.total.p95 ?? null
  const during = `in the last ${spans[span].title.toLowerCase()}`
  return (
    <dl className={css.figures}>
      <Figure name="Succeeded" value={delivered?.toLocaleString('en')} about={during} />
      <Figure
        name="Failed attempts"
        value={failed?.toLocaleString('en')}
        tone={failed ? 'bad' : undefined}
        about={
          delivered === undefined || failed === undefined || delivered + failed === 0
            ? during
            : `${((100 * failed) / (delivered + failed)).toFixed(1)} % of all`
        }
      />
      <Figure
        name="Pending"
        value={waiting.data && `${waiting.data.count.toLocaleString('en')}${waiting.data.isMore ? '+' : ''}`}
        tone={waiting.data?.oldest ? 'wait' : undefined}
        about={
          waiting.data?.oldest ? (
            <Link to="/deliveries" search={{ status: 'pending' }}>
              oldest: <Time at={waiting.data.oldest} />
            </Link>
          ) : (
            'to be sent, or retried'
          )
        }
      />
      <Figure
        name="p95"
        value={stats === undefined ? undefined : p95 === null ? '–' : sayMilliseconds(p95)}
        about={`of attempts ${during}`}
      />
    </dl>
  )
}

function Figure({
  name,
  value,
  about,
  tone,
}: {
  readonly name: string
  readonly value: string | undefined
  readonly about: ReactNode
  readonly tone?: 'wait' | 'bad' | undefined
}) {
  return (
    <div data-tone={tone}>
      <dt>{name}</dt>
      <dd>
        <strong className="number">{value ?? ' '}</strong>
        <small>{about}</small>
      </dd>
    </div>
  )
}

/** How far it searches for the oldest: further pages cost more than they tell. */
const searchedUpTo = 1000

/** How many deliveries are pending, and how old the oldest is, as far as it is searched for. */
async function readWaiting({ signal }: { readonly signal: AbortSignal }) {
  const read = (offset: number) =>
    answerOf(api().deliveries.list({ status: 'pending', limit: 1, offset }, { signal }).page())
  const newest = await read(0)
  const { total } = newest.pagination
  const last = total <= 1 ? newest : await read(Math.min(total, searchedUpTo) - 1)
  return { count: total, isMore: total > searchedUpTo * 10 - 1, oldest: last.data[0]?.createdAt ?? null }
}

const ranks = { failing: 0, disabled: 1, missed: 2, paused: 3, unused: 4, well: 5 } as const

/** Those that need attention first. */
function ByHealth({ endpoints }: { readonly endpoints: readonly Webhook[] }) {
  if (endpoints.length === 0) {
    return (
      <Empty title="No endpoints yet">
        <p>
          An endpoint is a URL of yours that receives events. <Link to="/endpoints">Add the first</Link>.
        </p>
      </Empty>
    )
  }
  const ranked = [...endpoints].sort((a, b) => ranks[healthOf(a)] - ranks[healthOf(b)])
  return (
    <ul className={css.rows}>
      {ranked.slice(0, 8).map((endpoint) => (
        <li key={endpoint.id}>
          <Link to="/endpoints/$id" params={{ id: endpoint.id }}>
            {hostOf(endpoint.url)}
          </Link>
          <EndpointStatus endpoint={endpoint} />
          <span className={css.when}>
            {endpoint.failingSince !== null ? (
              <>
                since <Time at={endpoint.failingSince} />
              </>
            ) : endpoint.disabledAt !== null ? (
              <>
                since <Time at={endpoint.disabledAt} />
              </>
            ) : (
              endpoint.lastSuccessAt !== null && <Time at={endpoint.lastSuccessAt} />
            )}
          </span>
        </li>
      ))}
    </ul>
  )
}

/** Changes by kind, the most first. */
function Changes({ points }: { readonly points: readonly StatsPoint[] }) {
  const kinds = [...new Set(points.flatMap(({ changes }) => Object.keys(changes)))]
  const rows = kinds
    .map((kind) => ({ kind, counts: points.map(({ changes }) => changes[kind] ?? 0) }))
    .map((row) => ({ ...row, total: row.counts.reduce((sum, count) => sum + count, 0) }))
    .sort((a, b) => b.total - a.total || a.kind.localeCompare(b.kind))
  if (rows.length === 0) return <p className={css.none}>No changes that your key may read.</p>
  return (
    <ul className={css.rows}>
      {rows.map(({ kind, counts, total }) => (
        <li key={kind}>
          <span>{kind}</span>
          <Sparkline values={counts} colour="--chart-1" label={`${kind}: ${total} changed`} />
          <span className={`number ${css.when}`}>{total.toLocaleString('en')}</span>
        </li>
      ))}
    </ul>
  )
}
