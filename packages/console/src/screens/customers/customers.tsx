import { getRouteApi } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { answerOf, api } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useList } from '../../api/list.ts'
import { Button } from '../../design/button.tsx'
import { type Column, DataTable } from '../../design/data-table.tsx'
import { FilterCreated } from '../../design/filter-range.tsx'
import { FilterSearch } from '../../design/filter-search.tsx'
import { ActionMenu } from '../../design/menu.tsx'
import { Page } from '../../design/page.tsx'
import { Empty } from '../../design/states.tsx'
import { Time } from '../../design/time.tsx'
import { useCaller } from '../../session/caller.tsx'
import { useExportCsv } from '../desk/export-csv.tsx'
import { type Customer, nameOf } from '../desk/objects.ts'
import { Tags } from '../desk/tags.tsx'
import { CustomerForm } from './customer-form.tsx'

const route = getRouteApi('/customers')

const columns: readonly Column<Customer>[] = [
  { title: 'Name', isWide: true, cell: nameOf, order: nameOf },
  {
    title: 'Company',
    width: [7, 11],
    cell: ({ company }) => company ?? '',
    order: ({ company }) => company,
    isExtra: true,
  },
  { title: 'Email', cell: ({ email }) => email ?? '', order: ({ email }) => email, isWide: true },
  { title: 'Phone', width: [7, 9], cell: ({ phone }) => phone ?? '', isExtra: true },
  { title: 'Tags', width: [7, 10], cell: ({ tags }) => <Tags of={tags} atMost={2} />, isExtra: true },
  {
    title: 'Added',
    align: 'end',
    cell: ({ createdAt }) => <Time at={createdAt} />,
    order: ({ createdAt }) => createdAt,
  },
]

export function Customers() {
  const { q, tag, createdAfter, createdBefore } = route.useSearch()
  const navigate = route.useNavigate()
  const { may } = useCaller()
  const [isAdding, setAdding] = useState(false)
  const query = { q, tag, createdAfter, createdBefore }
  const csv = useExportCsv('customers', query)
  const list = useList({
    key: keys.list('customers', query),
    load: async (page, signal) =>
      await answerOf(
        api()
          .customers.list({ ...query, ...page }, { signal })
          .page(),
      ),
  })
  const search = useCallback(
    (words: string | undefined) =>
      void navigate({ search: (held) => ({ ...held, q: words }), replace: true }),
    [navigate],
  )
  const add = may('customers:write') && (
    <Button kind="primary" aria-keyshortcuts="c" onClick={() => setAdding(true)}>
      Add customer
    </Button>
  )

  return (
    <Page
      title="Customers"
      actions={
        <>
          {add}
          <ActionMenu actions={[csv.action]} calls={[{ method: 'GET', path: '/v1/customers', query }]} />
        </>
      }
      filters={
        <>
          <FilterSearch label="Search customers" value={q} onChange={search} />
          <FilterCreated
            label="Added"
            range={{ createdAfter, createdBefore }}
            onChange={(range) => void navigate({ search: (held) => ({ ...held, ...range }), replace: true })}
          />
          {tag !== undefined && (
            <Button onClick={() => void navigate({ search: { q, createdAfter, createdBefore } })}>
              Tag {tag} ×
            </Button>
          )}
        </>
      }
    >
      {csv.progress}
      <DataTable
        caption="Customers, newest first"
        list={list}
        columns={columns}
        to={({ id }) => ({ to: '/customers/$id', params: { id } })}
        clearFilters={
          Object.values(query).some((value) => value !== undefined)
            ? () => void navigate({ search: {} })
            : null
        }
        empty={
          <Empty title="No customers yet" actions={add}>
            <p>Customers send messages, make bookings and have tickets.</p>
          </Empty>
        }
      />
      {isAdding && (
        <CustomerForm
          customer={null}
          close={() => setAdding(false)}
          onDone={({ id }) => void navigate({ to: '/customers/$id', params: { id } })}
        />
      )}
    </Page>
  )
}
