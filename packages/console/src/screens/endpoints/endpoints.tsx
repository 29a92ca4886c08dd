/** All endpoints with their health. */
import { getRouteApi } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { answerOf, api, type Webhook } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { Button } from '../../design/button.tsx'
import { type Column, DataTable } from '../../design/data-table.tsx'
import { ActionMenu } from '../../design/menu.tsx'
import { Page } from '../../design/page.tsx'
import { FilterSelect } from '../../design/select.tsx'
import { Empty } from '../../design/states.tsx'
import { Tag } from '../../design/status.tsx'
import { Time } from '../../design/time.tsx'
import { lazyScreen } from '../../router/lazy-screen.ts'
import { useCaller } from '../../session/caller.tsx'
import { hostOf } from './endpoint-list.ts'
import { EndpointStatus } from './endpoint-status.tsx'
import { SecretOnce } from './secret.tsx'

const route = getRouteApi('/endpoints')
const EndpointForm = lazyScreen(() => import('./endpoint-form.tsx'), 'EndpointForm')

export function Endpoints() {
  const { status } = route.useSearch()
  const navigate = route.useNavigate()
  const { may } = useCaller()
  const [isOpen, setOpen] = useState(false)
  const [made, setMade] = useState<{ readonly id: string; readonly secret: string } | null>(null)
  const query = { status: status as 'active' | 'paused' | 'disabled' | undefined }
  const list = useList({
    key: ['endpoints', query],
    load: (page, signal) =>
      answerOf(
        api()
          .webhooks.list({ ...query, ...page }, { signal })
          .page(),
      ),
    every: 5000,
    isByOffset: true,
  })
  const register = may('webhooks:write') && (
    <Button kind="primary" aria-keyshortcuts="c" onClick={() => setOpen(true)}>
      Add endpoint
    </Button>
  )
  const columns: readonly Column<Webhook>[] = [
    {
      title: 'Endpoint',
      order: ({ url }) => hostOf(url),
      isWide: true,
      cell: ({ url, description, consoleLinkId }) => (
        <>
          {hostOf(url)} {description !== null && <small>{description}</small>}{' '}
          {consoleLinkId !== null && <Tag>Console link</Tag>}
        </>
      ),
    },
    { title: 'Status', width: [9, 10.5], cell: (endpoint) => <EndpointStatus endpoint={endpoint} /> },
    {
      title: 'Failing since',
      order: ({ failingSince }) => failingSince,
      align: 'end',
      cell: ({ failingSince }) => (failingSince === null ? '' : <Time at={failingSince} />),
    },
    {
      title: 'Last success',
      order: ({ lastSuccessAt }) => lastSuccessAt,
      align: 'end',
      isExtra: true,
      cell: ({ lastSuccessAt }) => (lastSuccessAt === null ? 'Never' : <Time at={lastSuccessAt} />),
    },
  ]
  return (
    <Page
      title="Endpoints"
      actions={
        <>
          {register}
          <ActionMenu calls={[{ method: 'GET', path: '/v1/webhooks', query }]} />
        </>
      }
      filters={
        <FilterSelect
          label="Status"
          value={status}
          options={[
            ['active', 'Active'],
            ['paused', 'Paused'],
            ['disabled', 'Disabled'],
          ]}
          onChange={(value) => void navigate({ search: { status: value }, replace: true })}
        />
      }
    >
      <DataTable
        caption="Endpoints"
        list={list}
        columns={columns}
        to={({ id }) => ({ to: '/endpoints/$id', params: { id } })}
        clearFilters={status === undefined ? null : () => void navigate({ search: {} })}
        empty={
          <Empty title="No endpoints yet" actions={register}>
            <p>An endpoint is a URL of yours that receives signed events.</p>
          </Empty>
        }
      />
      {isOpen && (
        <Suspense>
          <EndpointForm
            isOpen
            close={() => setOpen(false)}
            endpoint={null}
            onCreated={(id, secret) => setMade({ id, secret })}
          />
        </Suspense>
      )}
      <SecretOnce
        secret={made?.secret ?? null}
        close={() => {
          if (made !== null) void navigate({ to: '/endpoints/$id', params: { id: made.id } })
          setMade(null)
        }}
      />
    </Page>
  )
}
