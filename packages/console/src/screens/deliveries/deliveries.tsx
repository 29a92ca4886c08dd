/** The delivery log of all endpoints, newest first, with filters in the address. */
import { getRouteApi, Link } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { answerOf, api, type Delivery } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { Button } from '../../design/button.tsx'
import { type Column, DataTable } from '../../design/data-table.tsx'
import { FilterCreated } from '../../design/filter-range.tsx'
import { FilterSearch } from '../../design/filter-search.tsx'
import { ActionMenu } from '../../design/menu.tsx'
import { Page } from '../../design/page.tsx'
import { FilterSelect } from '../../design/select.tsx'
import { Empty } from '../../design/states.tsx'
import { Tag } from '../../design/status.tsx'
import { sayMilliseconds, Time } from '../../design/time.tsx'
import { useCaller } from '../../session/caller.tsx'
import { Bulk } from '../desk/bulk.tsx'
import { useExportCsv } from '../desk/export-csv.tsx'
import { hostOf, useEndpoints } from '../endpoints/endpoint-list.ts'
import { eventTypes } from '../endpoints/event-types.ts'
import { DeliveryStatus, statusWords } from './delivery-status.tsx'
import { causeOf } from './errors.ts'
import { ResendAll } from './resend-all.tsx'

const route = getRouteApi('/deliveries')

/** One that has succeeded is sent again as a new delivery. */
const resend = ({ webhookId, id, status }: Delivery) =>
  answerOf(api().deliveries[status === 'succeeded' ? 'resend' : 'retry'](webhookId, id))

/** Milliseconds between looks for new deliveries. */
const every = 5000

export function Deliveries() {
  const { status, type, endpoint, event, createdAfter, createdBefore } = route.useSearch()
  const navigate = route.useNavigate()
  const endpoints = useEndpoints()
  const { may } = useCaller()
  const [isAsking, setAsking] = useState(false)
  const query = {
    status: status as (typeof statusWords)[number][0] | undefined,
    eventType: type as (typeof eventTypes)[number] | undefined,
    webhookId: endpoint,
    eventId: event,
    createdAfter,
    createdBefore,
  }
  const csv = useExportCsv('deliveries', query)
  const list = useList({
    key: ['deliveries', query],
    load: (page, signal) =>
      answerOf(
        api()
          .deliveries.list({ ...query, ...page }, { signal })
          .page(),
      ),
    every,
    isByOffset: true,
  })
  const filter = (change: object) =>
    void navigate({ search: (held) => ({ ...held, ...change }), replace: true })
  const findEvent = useCallback(
    (words: string | undefined) =>
      void navigate({ search: (held) => ({ ...held, event: words }), replace: true }),
    [navigate],
  )
  const mayHaveFailed = status === 'failed' || status === 'undelivered'
  const isFiltered = Object.values(query).some((value) => value !== undefined)

  const columns: readonly Column<Delivery>[] = [
    {
      title: 'Event',
      width: [9, 15],
      cell: ({ eventType }) => <code>{eventType}</code>,
    },
    { title: 'Status', width: [8, 11], cell: (delivery) => <DeliveryStatus delivery={delivery} /> },
    {
      title: 'Last response',
      isWide: true,
      isExtra: true,
      cell: (delivery) => causeOf(delivery) ?? '',
    },
    {
      title: 'Endpoint',
      width: [8, 13],
      cell: ({ webhookId }) => hostOf(endpoints.byId.get(webhookId)?.url) ?? <Tag>Deleted</Tag>,
    },
    {
      title: 'Duration',
      width: [5, 6],
      align: 'end',
      isExtra: true,
      cell: ({ durationMs }) => (durationMs === null ? '' : sayMilliseconds(durationMs)),
    },
    { title: 'Created', align: 'end', cell: ({ createdAt }) => <Time at={createdAt} /> },
  ]

  return (
    <Page
      title="Deliveries"
      actions={
        <>
          {may('webhooks:write') && mayHaveFailed && list.rows.some((one) => one.status === 'failed') && (
            <Button kind="primary" onClick={() => setAsking(true)}>
              Resend deliveries
            </Button>
          )}
          <ActionMenu actions={[csv.action]} calls={[{ method: 'GET', path: '/v1/deliveries', query }]} />
        </>
      }
      filters={
        <>
          <FilterSelect
            label="Status"
            value={status}
            options={statusWords}
            onChange={(value) => filter({ status: value })}
          />
          <FilterSelect
            label="Event"
            value={type}
            options={eventTypes}
            onChange={(value) => filter({ type: value })}
          />
          <FilterSelect
            label="Endpoint"
            value={endpoint}
            options={endpoints.all.map(({ id, url }) => [id, hostOf(url) ?? url] as const)}
            onChange={(value) => filter({ endpoint: value })}
          />
          <FilterCreated range={{ createdAfter, createdBefore }} onChange={filter} />
          <FilterSearch label="Event ID" value={event} onChange={findEvent} />
        </>
      }
    >
      {csv.progress}
      <DataTable
        caption="Deliveries, newest first"
        list={list}
        columns={columns}
        to={({ id, webhookId }) => ({
          to: '/deliveries/$id',
          params: { id },
          search: { endpoint: webhookId },
        })}
        bulk={
          may('webhooks:write')
            ? (chosen, clear) => (
                <Bulk
                  chosen={chosen}
                  clear={clear}
                  queryKey={['deliveries']}
                  actions={[
                    {
                      verb: chosen.length === 1 ? 'Resend 1 delivery' : `Resend ${chosen.length} deliveries`,
                      done: 'resent',
                      call: resend,
                    },
                  ]}
                />
              )
            : undefined
        }
        clearFilters={isFiltered ? () => void navigate({ search: {} }) : null}
        noMatch={
          status === 'failed' ? (
            <p>
              A delivery fails with its last attempt. Until then it is{' '}
              <Link to="/deliveries" search={(held) => ({ ...held, status: 'pending' })}>
                pending
              </Link>
              .
            </p>
          ) : status === 'undelivered' && createdAfter !== undefined ? (
            <p>
              A later attempt delivered these, or the failed deliveries were{' '}
              <Link to="/deliveries" search={(held) => ({ ...held, createdAfter: undefined })}>
                created earlier
              </Link>
              .
            </p>
          ) : undefined
        }
        empty={
          <Empty title="No deliveries yet">
            <p>
              The service creates one for each event and subscribed endpoint. Ping an endpoint to see the
              first.
            </p>
          </Empty>
        }
      />
      {isAsking && <ResendAll close={() => setAsking(false)} filter={query} endpoints={endpoints.byId} />}
    </Page>
  )
}
