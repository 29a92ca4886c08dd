/** The teammates of the desk. */
import { getRouteApi, Link } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { answerOf, api } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useList } from '../../api/list.ts'
import { Button } from '../../design/button.tsx'
import { type Column, DataTable } from '../../design/data-table.tsx'
import { FilterSearch } from '../../design/filter-search.tsx'
import { ActionMenu } from '../../design/menu.tsx'
import { Page } from '../../design/page.tsx'
import { Empty } from '../../design/states.tsx'
import { Status } from '../../design/status.tsx'
import { Time } from '../../design/time.tsx'
import { useCaller } from '../../session/caller.tsx'
import { ConfirmDelete } from '../desk/confirm-delete.tsx'
import { useExportCsv } from '../desk/export-csv.tsx'
import type { FormField } from '../desk/form-values.ts'
import { ObjectForm } from '../desk/object-form.tsx'
import type { Teammate } from '../desk/objects.ts'

const route = getRouteApi('/teammates')

const fields: readonly FormField[] = [
  { name: 'name', label: 'Name', kind: 'line', isRequired: true },
  { name: 'email', label: 'Email', kind: 'line' },
  {
    name: 'active',
    label: 'Active',
    kind: 'yes',
    hint: 'Only active teammates can be assigned work. Work and messages of an inactive teammate keep the name.',
  },
]

export function Teammates() {
  const { q } = route.useSearch()
  const navigate = route.useNavigate()
  const { may } = useCaller()
  const mayWrite = may('teammates:write')
  const [edited, setEdited] = useState<Teammate | 'new' | null>(null)
  const [leaving, setLeaving] = useState<Teammate | null>(null)
  const close = () => setEdited(null)
  /** After a deletion, without the row. */
  const stay = () => {
    setLeaving(null)
    list.showNews()
  }
  const csv = useExportCsv('teammates', { q })
  const list = useList({
    key: keys.list('teammates', q),
    load: async (page, signal) =>
      await answerOf(
        api()
          .teammates.list({ q, ...page }, { signal })
          .page(),
      ),
  })
  const search = useCallback(
    (words: string | undefined) => void navigate({ search: { q: words }, replace: true }),
    [navigate],
  )
  const add = mayWrite && (
    <Button kind="primary" aria-keyshortcuts="c" onClick={() => setEdited('new')}>
      Add teammate
    </Button>
  )
  const columns: readonly Column<Teammate>[] = [
    { title: 'Name', isWide: true, cell: ({ name }) => name, order: ({ name }) => name },
    { title: 'Email', cell: ({ email }) => email ?? '', order: ({ email }) => email, isWide: true },
    {
      title: 'Status',
      cell: ({ active }) => (
        <Status tone={active ? 'good' : 'quiet'}>{active ? 'Active' : 'Inactive'}</Status>
      ),
    },
    ...(may('conversations:read')
      ? [
          {
            title: 'Work',
            cell: ({ id, name }: Teammate) => (
              <Link
                to="/conversations"
                search={{ assignee: id }}
                aria-label={`Open conversations of ${name}`}
              >
                Conversations
              </Link>
            ),
          },
        ]
      : []),
    ...(mayWrite
      ? [
          {
            title: 'Edit',
            width: [5, 5] as const,
            cell: (teammate: Teammate) => (
              <Button size="s" aria-label={`Edit ${teammate.name}`} onClick={() => setEdited(teammate)}>
                Edit
              </Button>
            ),
          },
          {
            title: 'Delete',
            cell: (teammate: Teammate) => (
              <Button size="s" aria-label={`Delete ${teammate.name}`} onClick={() => setLeaving(teammate)}>
                Delete
              </Button>
            ),
          },
        ]
      : []),
    { title: 'Added', align: 'end', cell: ({ createdAt }) => <Time at={createdAt} />, isExtra: true },
  ]
  const common = { fields, kind: 'teammates', close } as const

  return (
    <Page
      title="Teammates"
      actions={
        <>
          {add}
          <ActionMenu
            actions={[csv.action]}
            calls={[{ method: 'GET', path: '/v1/teammates', query: { q } }]}
          />
        </>
      }
      filters={<FilterSearch label="Search teammates" value={q} onChange={search} />}
    >
      {csv.progress}
      <DataTable
        caption="Teammates, newest first"
        list={list}
        columns={columns}
        clearFilters={q !== undefined ? () => void navigate({ search: {} }) : null}
        empty={
          <Empty title="No teammates yet" actions={add}>
            <p>Assign conversations, tickets and bookings to teammates.</p>
          </Empty>
        }
      />
      {edited === 'new' && (
        <ObjectForm
          {...common}
          title="Add teammate"
          verb="Add"
          done="Teammate added"
          given={{ active: true }}
          create={async (body, intent) =>
            await answerOf(api().teammates.create(body, { idempotencyKey: intent }))
          }
        />
      )}
      {leaving !== null && (
        <ConfirmDelete close={stay} kind="teammates" noun="teammate" row={leaving}>
          <p>
            <bdi>{leaving.name}</bdi> will be deleted permanently: their conversations, tickets and bookings
            become unassigned, and their messages keep the name. To keep the record, edit the teammate and
            make them inactive.
          </p>
        </ConfirmDelete>
      )}
      {edited !== null && edited !== 'new' && (
        <ObjectForm
          {...common}
          title="Edit teammate"
          verb="Save"
          done="Teammate saved"
          edited={list.rows.find(({ id }) => id === edited.id) ?? edited}
        />
      )}
    </Page>
  )
}
