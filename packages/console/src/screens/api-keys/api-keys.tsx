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
import { Switch } from '../../design/switch.tsx'
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
  const { new: creating, revoked } = route.useSearch()
  const isRevoked = revoked === 'true'
  const navigate = route.useNavigate()
  const [token, setToken] = useState<string | null>(null)
  const put = (search: { new?: string; revoked?: string }) => void navigate({ search, replace: true })
  const list = useList({
    key: ['api-keys', isRevoked],
    load: async (page, signal) => {
      const asked = api().apiKeys.list({ ...page, revoked: isRevoked }, { signal })
      const { data, pagination } = await answerOf(asked.page())
      // Their order, which a list goes by, is that of their revocation.
      return { data: data.map((key) => ({ ...key, createdAt: key.revokedAt ?? key.createdAt })), pagination }
    },
    every: 10_000,
    isByOffset: true,
  })
  const columns: readonly Column<ApiKey>[] = [
    {
      title: 'Key',
      isWide: true,
      cell: ({ id, name }) => (
        <span className={css.name}>
          {name} {id === own.id && <Tag>Your key</Tag>}
        </span>
      ),
    },
    { title: 'Token', width: [5, 6], isExtra: true, cell: ({ last4 }) => <code>…{last4}</code> },
    {
      title: 'Scopes',
      width: [7, 11],
      cell: ({ scopes }) => <span title={scopes.join(', ')}>{sayScopes(scopes)}</span>,
    },
    ...(isRevoked
      ? [
          {
            title: 'Revoked by',
            width: [8, 12] as const,
            cell: ({ revokedBy }: ApiKey) => revokedBy?.name ?? revokedBy?.id ?? 'The operator',
          },
        ]
      : [
          {
            title: 'Status',
            width: [8, 12] as const,
            cell: (apiKey: ApiKey) => <KeyStatus apiKey={apiKey} />,
          },
        ]),
    {
      title: 'Last used',
      align: 'end',
      isExtra: isRevoked,
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'Never' : <Time at={lastUsedAt} />),
    },
    isRevoked
      ? { title: 'Revoked', align: 'end', cell: ({ createdAt }) => <Time at={createdAt} /> }
      : { title: 'Created', align: 'end', isExtra: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
  ]
  const create = (
    <Button kind="primary" aria-keyshortcuts="c" onClick={() => put({ new: 'yes' })}>
      Create API key
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
              { method: 'GET', path: '/v1/api-keys', query: { revoked } },
              {
                method: 'POST',
                path: '/v1/api-keys',
                body: { name: 'Search index', scopes: ['customers:read', 'tickets:read'] },
              },
            ]}
          />
        </>
      }
      filters={
        <Switch
          label="Keys"
          value={isRevoked ? 'revoked' : 'active'}
          options={[
            ['active', 'Current'],
            ['revoked', 'Revoked'],
          ]}
          onChange={(chosen) => put(chosen === 'revoked' ? { revoked: 'true' } : {})}
        />
      }
    >
      <DataTable
        caption={isRevoked ? 'Keys revoked in the last 30 days' : 'API keys, newest first'}
        list={list}
        columns={columns}
        {...(!isRevoked && { to: ({ id }: ApiKey) => ({ to: '/api-keys/$id', params: { id } }) })}
        empty={
          isRevoked ? (
            <Empty title="No keys revoked in the last 30 days" />
          ) : (
            <Empty title="No API keys yet">
              <p>Create a separate key for each program that calls the API.</p>
            </Empty>
          )
        }
      />
      {creating !== undefined && (
        <Suspense>
          <KeyForm isOpen close={() => put({})} apiKey={null} onCreated={setToken} />
        </Suspense>
      )}
      <TokenOnce token={token} close={() => setToken(null)} />
    </Page>
  )
}
