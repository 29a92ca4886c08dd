/** Bookings: a day or a week on a calendar, or a list. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type ReactNode, useCallback, useState } from 'react'
import { answerOf, api } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { type List, useList } from '../../api/list.ts'
import { Button } from '../../design/button.tsx'
import { type Column, DataTable } from '../../design/data-table.tsx'
import { Confirm } from '../../design/dialog.tsx'
import { Checkbox } from '../../design/field.tsx'
import { FilterCreated } from '../../design/filter-range.tsx'
import { FilterSearch } from '../../design/filter-search.tsx'
import { dayOf, readersZone, sayDay } from '../../design/local-time.ts'
import { ActionMenu } from '../../design/menu.tsx'
import { Page } from '../../design/page.tsx'
import { FilterSelect } from '../../design/select.tsx'
import { Empty } from '../../design/states.tsx'
import { Sign } from '../../design/status.tsx'
import { Switch } from '../../design/switch.tsx'
import { Time } from '../../design/time.tsx'
import { say } from '../../design/toasts.tsx'
import { useCaller } from '../../session/caller.tsx'
import { useExportCsv } from '../desk/export-csv.tsx'
import {
  assigneeOptions,
  type Booking,
  nameOf,
  sayStatus,
  useCustomers,
  useTeammates,
} from '../desk/objects.ts'
import { BookingForm } from './booking-form.tsx'
import { BookingStatus } from './booking-status.tsx'
import { Calendar } from './calendar.tsx'
import { type BookingQuery, ofAssignee, readAtMost, readBetween } from './calls.ts'
import { conflictsOf, sayWhen } from './when.ts'

const route = getRouteApi('/bookings')

const views = [
  ['day', 'Day'],
  ['week', 'Week'],
  ['list', 'List'],
] as const
const statuses = ['pending', 'confirmed', 'cancelled', 'completed', 'no_show', 'rejected']

export function Bookings() {
  const { view, week, q, status, assignee, cancelled, conflicts, createdAfter, createdBefore } =
    route.useSearch()
  const navigate = route.useNavigate()
  const { may, organization } = useCaller()
  const teammates = useTeammates()
  const [isBooking, setBooking] = useState(false)
  const [isSetting, setSetting] = useState(false)
  const query = { q, status, assigneeId: assignee } as BookingQuery
  const listed = { ...query, createdAfter, createdBefore }
  const csv = useExportCsv('bookings', listed)
  const filter = useCallback(
    (change: object) => void navigate({ search: (held) => ({ ...held, ...change }), replace: true }),
    [navigate],
  )
  const search = useCallback((words: string | undefined) => filter({ q: words }), [filter])
  const isFiltered = [q, status, assignee, conflicts, createdAfter, createdBefore].some(
    (value) => value !== undefined,
  )
  const clear = isFiltered ? () => void navigate({ search: { view, week, cancelled } }) : null
  const book = may('bookings:write') && (
    <Button kind="primary" aria-keyshortcuts="c" onClick={() => setBooking(true)}>
      Create booking
    </Button>
  )

  const shown = view === 'list' || view === 'day' ? view : 'week'
  return (
    <Page
      title="Bookings"
      about={shown === 'list' ? `Times in ${readersZone}.` : undefined}
      actions={
        <>
          <Switch
            label="View"
            value={shown}
            options={views}
            onChange={(next) => filter({ view: next === 'week' ? undefined : next })}
          />
          {book}
          <ActionMenu
            calls={[{ method: 'GET', path: '/v1/bookings', query: { ...query } as Record<string, string> }]}
            actions={[
              ...(shown === 'list' && conflicts === undefined ? [csv.action] : []),
              ...(may('api_keys:manage')
                ? [
                    {
                      title: organization.preventDoubleBooking
                        ? 'Allow double booking'
                        : 'Prevent double booking',
                      run: () => setSetting(true),
                    },
                  ]
                : []),
            ]}
          />
        </>
      }
      filters={
        <>
          <FilterSearch label="Search bookings" value={q} onChange={search} />
          <FilterSelect
            label="Status"
            value={status}
            options={statuses.map((one) => [one, sayStatus(one)] as const)}
            onChange={(value) => filter({ status: value })}
          />
          {may('teammates:read') && (
            <FilterSelect
              label="Assignee"
              value={assignee}
              options={assigneeOptions(teammates.all)}
              onChange={(value) => filter({ assignee: value })}
            />
          )}
          {shown === 'list' && <FilterCreated range={{ createdAfter, createdBefore }} onChange={filter} />}
          <Checkbox
            label="Conflicts only"
            checked={conflicts !== undefined}
            onChange={({ currentTarget }) => filter({ conflicts: currentTarget.checked ? 'yes' : undefined })}
          />
          {shown !== 'list' && (
            <Checkbox
              label="Show cancelled"
              checked={cancelled !== undefined}
              onChange={({ currentTarget }) =>
                filter({ cancelled: currentTarget.checked ? 'yes' : undefined })
              }
            />
          )}
        </>
      }
    >
      {csv.progress}
      {shown === 'list' ? (
        <AsList query={listed} isConflictsOnly={conflicts !== undefined} clear={clear} add={book} />
      ) : (
        <Calendar
          query={query}
          view={shown}
          day={week}
          isConflictsOnly={conflicts !== undefined}
          hasCancelled={cancelled !== undefined}
          goTo={(day) =>
            void navigate({
              search: (held) => ({ ...held, week: day }),
              replace: true,
              // The same hours stay in view.
              resetScroll: false,
            })
          }
          showConflicts={() => filter({ view: 'list' })}
          clear={clear}
        />
      )}
      {isSetting && <DoubleBooking close={() => setSetting(false)} />}
      {isBooking && (
        <BookingForm
          close={() => setBooking(false)}
          onDone={({ id }) => void navigate({ to: '/bookings/$id', params: { id } })}
        />
      )}
    </Page>
  )
}

function DoubleBooking({ close }: { readonly close: () => void }) {
  const { organization } = useCaller()
  const client = useQueryClient()
  // The question stays the same while its answer arrives.
  const [is] = useState(organization.preventDoubleBooking)
  return (
    <Confirm
      isOpen
      close={close}
      title={is ? 'Allow double booking?' : 'Prevent double booking?'}
      verb={is ? 'Allow' : 'Prevent'}
      kind="primary"
      act={async () => {
        await answerOf(api().organization.update({ preventDoubleBooking: !is }))
        await client.invalidateQueries({ queryKey: ['caller'] })
        say(is ? 'Double booking allowed' : 'Double booking prevented')
      }}
    >
      <p>
        {is
          ? 'An assignee can then have several bookings at the same time.'
          : 'Bookings that overlap another one of the same assignee are rejected. Existing bookings stay.'}
      </p>
    </Confirm>
  )
}

/** The bookings from today on. */
function useComing(query: BookingQuery, isEnabled: boolean) {
  const today = dayOf(undefined, new Date())
  return useQuery({
    queryKey: keys.list('bookings', 'from', sayDay(today), query),
    queryFn: ({ signal }) => readBetween(today, null, query, signal),
    enabled: isEnabled,
  })
}

function AsList({
  query,
  isConflictsOnly,
  clear,
  add,
}: {
  readonly query: BookingQuery
  /** Of the bookings from today on. */
  readonly isConflictsOnly: boolean
  readonly clear: (() => void) | null
  readonly add: ReactNode
}) {
  const teammates = useTeammates()
  const newest = useList({
    key: keys.list('bookings', query),
    isEnabled: !isConflictsOnly,
    load: async (page, signal) =>
      await answerOf(
        api()
          .bookings.list({ ...query, ...page }, { signal })
          .page(),
      ),
  })
  // A list that is whole has every booking that another can conflict with.
  const isWhole = !newest.hasMore && Object.values(query).every((value) => value === undefined)
  const coming = useComing(ofAssignee(query), isConflictsOnly || !isWhole)
  const matching = useComing(query, isConflictsOnly)
  const conflicts = conflictsOf(coming.data?.bookings ?? newest.rows)
  const total = Math.max(coming.data?.total ?? 0, matching.data?.total ?? 0)
  const conflicting = (matching.data?.bookings ?? [])
    .filter(({ id }) => conflicts.has(id))
    .sort((a, b) => Date.parse(a.startAt) - Date.parse(b.startAt))
  const list: List<Booking> = isConflictsOnly
    ? {
        ...newest,
        rows: conflicting,
        total: conflicting.length,
        isLoading: coming.isPending || matching.isPending,
        error: coming.error ?? matching.error,
        retry: () => void Promise.all([coming.refetch(), matching.refetch()]),
        hasMore: false,
        news: { count: 0, gone: 0 },
        isGone: () => false,
      }
    : newest
  const customers = useCustomers(list.rows.map(({ customerId }) => customerId))
  const columns: readonly Column<Booking>[] = [
    { title: 'Title', cell: ({ title }) => title, order: ({ title }) => title, isWide: true },
    {
      title: 'When',
      width: [13, 15.5],
      cell: (booking) => (
        <>
          {conflicts.has(booking.id) && (
            <span title="Conflict">
              <Sign tone="bad" />
              <span className="unseen">Conflict: </span>{' '}
            </span>
          )}
          {sayWhen(booking)}
        </>
      ),
      order: ({ startAt }) => startAt,
    },
    {
      title: 'Customer',
      width: [6, 9],
      cell: ({ customerId }) => {
        const customer = customers.get(customerId ?? '')
        return customer === undefined ? '' : nameOf(customer)
      },
      isExtra: true,
    },
    {
      title: 'Assignee',
      width: [6, 8],
      cell: ({ assigneeId }) => (assigneeId === null ? 'Unassigned' : teammates.nameOf(assigneeId)),
      isExtra: true,
    },
    {
      title: 'Status',
      cell: (booking) => <BookingStatus status={booking.status} />,
      order: ({ status }) => statuses.indexOf(status),
    },
    { title: 'Created', align: 'end', cell: ({ createdAt }) => <Time at={createdAt} /> },
  ]
  return (
    <>
      {isConflictsOnly && total > readAtMost && (
        <p role="status">
          Conflicts among the newest {readAtMost} of {total.toLocaleString('en')} bookings from today on.
          Filter by assignee, or choose a week, to examine the others.
        </p>
      )}
      <DataTable
        caption={isConflictsOnly ? 'Conflicts from today on' : 'Bookings, newest first'}
        list={list}
        columns={columns}
        to={({ id }) => ({ to: '/bookings/$id', params: { id } })}
        clearFilters={clear}
        noMatch={
          isConflictsOnly ? (
            <p>
              {total > readAtMost
                ? `No assignee has two of these ${readAtMost} bookings at the same time.`
                : 'No assignee has two bookings at the same time from today on.'}
            </p>
          ) : undefined
        }
        empty={
          <Empty title="No bookings yet" actions={add}>
            <p>A booking is an appointment with a customer.</p>
          </Empty>
        }
      />
    </>
  )
}
