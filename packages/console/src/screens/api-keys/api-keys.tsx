/** The keys of the organization. */
import { getRouteApi } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { type ApiKey, answerOf, api } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { Button } from '../../design/button.tsx'
import { type Column, DataTable } from '../../design/data-table.tsx'
import { ActionMenu } from '../../design/menu.tsx'
import { Page } from '../../design/page.tsx'
import { Empty, Forbidden } from '../../design/states.tsx'
import { Tag } from '../../design/status.tsx'
import { Time } from '../../design/time.tsx'
import { lazyScreen } from '../../router/lazy-screen.ts'
import { useCaller } from '../../session/caller.tsx'
import css from './api-keys.module.css'
import { KeyStatus } from './expiry.tsx'
import { sayScopes } from './scopes.ts'
import { TokenOnce } from './token-once.tsx'

const route = getRouteApi('/api-keys')
const KeyForm = lazyScreen(() => import('./key-form.tsx'), 'KeyForm')

export function ApiKeys() {
  const { may } = useCaller()
  if (may('api_keys:manage')) return <Manageable />
  return (
    <Page title="API keys">
      <Forbidden scope="api_keys:manage" />
    </Page>
  )
}

function Manageable() {
  const { key: own } = useCaller()
  const isNew = route.useSearch().new !== undefined
  const navigate = route.useNavigate()
  const [token, setToken] = useState<string | null>(null)
  const put = (search: { new?: string }) => void navigate({ search, replace: true })
  const list = useList({
    key: ['api-keys'],
    load: (query, signal) => answerOf(api().apiKeys.list(query, { signal }).page()),
    every: 10_000,
    isByOffset: true,
  })
  const columns: readonly Column<ApiKey>[] = [
    {
      title: 'Key',
      isWide: true,
      cell: ({ id, name }) => (
        <span className={css.name}>
          {name} {id === own.id && <Tag>you use this</Tag>}
        </span>
      ),
    },
    { title: 'Token', isExtra: true, cell: ({ last4 }) => <code>…{last4}</code> },
    { title: 'Scopes', cell: ({ scopes }) => <span title={scopes.join(', ')}>{sayScopes(scopes)}</span> },
    { title: 'Status', cell: (apiKey) => <KeyStatus apiKey={apiKey} /> },
    {
      title: 'Last used',
      align: 'end',
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Time at={lastUsedAt} />),
    },
    { title: 'Created', align: 'end', isExtra: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
  ]
  const create = (
    <Button kind="primary" onClick={() => put({ new: 'yes' })}>
      Create a key
    </Button>
  )
  return (
    <Page
      title="API keys"
      actions={
        <>
          {create}
          <ActionMenu
            calls={[
              { method: 'GET', path: '/v1/api-keys' },
              {
                method: 'POST',
                path: '/v1/api-keys',
                body: { name: 'Search index', scopes: ['customers:read', 'tickets:read'] },
              },
            ]}
          />
        </>
      }
    >
      <DataTable
        caption="API keys, newest first"
        list={list}
        columns={columns}
        to={({ id }) => ({ to: '/api-keys/$id', params: { id } })}
        empty={
          <Empty title="No keys">
            <p>Each program that calls the API has one of its own.</p>
          </Empty>
        }
      />
      {isNew && (
        <Suspense>
          <KeyForm isOpen close={() => put({})} apiKey={null} onCreated={setToken} />
        </Suspense>
      )}
      <TokenOnce token={token} close={() => setToken(null)} />
    </Page>
  )
}
