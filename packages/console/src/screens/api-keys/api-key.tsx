/** One key: scopes, expiry, rotation and revocation. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type ApiKey, answerOf, api } from '../../api/client.ts'
import { Button } from '../../design/button.tsx'
import { CopyText } from '../../design/copy.tsx'
import { Confirm } from '../../design/dialog.tsx'
import { ActionMenu } from '../../design/menu.tsx'
import { Notice } from '../../design/notice.tsx'
import { Facts, Page, Panel } from '../../design/page.tsx'
import { ErrorState, Forbidden, Loading } from '../../design/states.tsx'
import { Tag } from '../../design/status.tsx'
import { Countdown, Time, useNow } from '../../design/time.tsx'
import { say } from '../../design/toasts.tsx'
import { useCaller } from '../../session/caller.tsx'
import css from './api-keys.module.css'
import { KeyStatus } from './expiry.tsx'
import { KeyForm } from './key-form.tsx'
import { TokenOnce } from './token-once.tsx'

const route = getRouteApi('/api-keys/$id')

export function OneApiKey() {
  const { id } = route.useParams()
  const { may } = useCaller()
  const mayManage = may('api_keys:manage')
  const known = useQuery({
    queryKey: ['api-keys', id],
    queryFn: ({ signal }) => answerOf(api().apiKeys.get(id, { signal })),
    enabled: mayManage,
    refetchInterval: 10_000,
  })
  if (known.data !== undefined) return <Known apiKey={known.data} />
  return (
    <Page title="API key" trail={<Link to="/api-keys">API keys</Link>}>
      {!mayManage ? (
        <Forbidden scope="api_keys:manage" />
      ) : known.error === null ? (
        <Loading />
      ) : (
        <ErrorState error={known.error} retry={() => void known.refetch()} />
      )}
    </Page>
  )
}

type Open = 'change' | 'rotate' | 'end-overlap' | 'revoke' | null

function Known({ apiKey }: { readonly apiKey: ApiKey }) {
  const { id, name, scopes, expiresAt, previousTokenExpiresAt, lastUsedAt } = apiKey
  const path = { id }
  const { key: own, may } = useCaller()
  const now = useNow()
  const navigate = route.useNavigate()
  const client = useQueryClient()
  const [open, setOpen] = useState<Open>(null)
  const [token, setToken] = useState<string | null>(null)
  const close = () => setOpen(null)
  const renew = () => client.invalidateQueries({ queryKey: ['api-keys'] })
  const isOwn = own.id === id
  const isExpired = expiresAt !== null && Date.parse(expiresAt) <= now
  const lacks = scopes.filter((scope) => !may(scope))
  const isReplaced = previousTokenExpiresAt !== null && Date.parse(previousTokenExpiresAt) > now

  return (
    <Page
      title={name}
      trail={<Link to="/api-keys">API keys</Link>}
      beside={
        <>
          <KeyStatus apiKey={apiKey} />
          {isOwn && <Tag>Your key</Tag>}
        </>
      }
      actions={
        <>
          {lacks.length === 0 && !isExpired && <Button onClick={() => setOpen('rotate')}>Rotate</Button>}
          <ActionMenu
            calls={[
              { method: 'GET', path: `/v1/api-keys/${id}` },
              { method: 'POST', path: `/v1/api-keys/${id}/rotate` },
              { method: 'DELETE', path: `/v1/api-keys/${id}` },
            ]}
            actions={
              lacks.length > 0
                ? []
                : [
                    ...(isExpired ? [] : [{ title: 'Edit', run: () => setOpen('change') }]),
                    { title: 'Revoke', run: () => setOpen('revoke'), isDangerous: true },
                  ]
            }
          />
        </>
      }
    >
      {lacks.length > 0 && (
        <Notice tone="wait" title="This key has scopes that yours lacks">
          <p>
            You can view it but not change it. Your key lacks <code>{lacks.join(', ')}</code>.
          </p>
        </Notice>
      )}
      {isReplaced && (
        <Notice
          tone="wait"
          title="Two active tokens"
          actions={
            lacks.length === 0 && <Button onClick={() => setOpen('end-overlap')}>Expire old token</Button>
          }
        >
          <p>
            The old token expires in <Countdown to={previousTokenExpiresAt} />. Deploy the new one before
            then. After a leak, expire the old one immediately.
          </p>
        </Notice>
      )}
      <Panel title="Details">
        <Facts
          of={[
            ['ID', <CopyText key="id" text={id} short />],
            ['Token', <code key="token">…{apiKey.last4}</code>],
            ['Last used', lastUsedAt === null ? 'Never' : <Time key="used" at={lastUsedAt} />],
            ['Expires', expiresAt === null ? 'Never' : <Time key="until" at={expiresAt} />],
            ['Created', <Time key="created" at={apiKey.createdAt} />],
          ]}
        />
      </Panel>
      <Panel title="Scopes">
        <ul className={css.scopes}>
          {scopes.map((scope) => (
            <li key={scope}>
              <Tag>{scope === '*' ? 'All scopes' : scope}</Tag>
            </li>
          ))}
        </ul>
      </Panel>

      <KeyForm isOpen={open === 'change'} close={close} apiKey={apiKey} />
      <TokenOnce token={token} close={() => setToken(null)} />
      <Confirm
        isOpen={open === 'rotate'}
        close={close}
        title="Rotate token?"
        verb="Rotate"
        kind="primary"
        act={async () => {
          const rotated = await answerOf(api().apiKeys.rotate(path.id))
          setToken(rotated.token)
          await renew()
        }}
      >
        <p>
          The new token is shown once. The old one works for another day, so you can deploy the new one
          without interruption.
        </p>
      </Confirm>
      <Confirm
        isOpen={open === 'end-overlap'}
        close={close}
        title="Expire old token?"
        verb="Expire"
        act={async () => {
          await answerOf(api().apiKeys.deletePreviousToken(path.id))
          await renew()
        }}
      >
        <p>
          From now on, only the new token works. Programs with the old one are rejected.
          {isOwn && ' If you signed in with the old token, you are signed out.'}
        </p>
      </Confirm>
      <Confirm
        isOpen={open === 'revoke'}
        close={close}
        title="Revoke API key?"
        verb="Revoke"
        act={async () => {
          await answerOf(api().apiKeys.delete(path.id))
          say('API key revoked')
          await navigate({ to: '/api-keys', search: {} })
          await renew()
        }}
      >
        <p>
          Calls with <strong>{name}</strong> are rejected from now on, and the endpoints that it registered
          are disabled. This cannot be undone.
          {isOwn && ' You use this key here, so you are signed out.'}
        </p>
      </Confirm>
    </Page>
  )
}
