/** The stream as a client sees it: live, in order, with a copy in this tab that is compared with the service. */
import { getRouteApi } from '@tanstack/react-router'
import { useEffect, useState, useSyncExternalStore } from 'react'
import type { ShownCall } from '../../api/client.ts'
import { Button } from '../../design/button.tsx'
import { CopyText } from '../../design/copy.tsx'
import { ActionMenu } from '../../design/menu.tsx'
import { Notice } from '../../design/notice.tsx'
import { Facts, Page, Panel } from '../../design/page.tsx'
import { FilterSelect } from '../../design/select.tsx'
import { Empty, ErrorState, Forbidden } from '../../design/states.tsx'
import { Status } from '../../design/status.tsx'
import { kinds } from '../../generated/lists.ts'
import { useCaller } from '../../session/caller.tsx'
import { sessionToken } from '../../session/store.ts'
import { Explorer, type ExplorerState } from './explorer.ts'
import { Proof } from './proof.tsx'
import { Stream } from './stream.tsx'
import css from './sync-explorer.module.css'

const route = getRouteApi('/sync-explorer')

export function SyncExplorer() {
  const { may } = useCaller()
  const readable = kinds.filter(({ plural }) => may(`${plural}:read`)).map(({ name }) => name)
  if (readable.length > 0) return <Readable readable={readable} />
  return (
    <Page title="Sync explorer">
      <Forbidden scope="customers:read" />
    </Page>
  )
}

function Readable({ readable }: { readonly readable: readonly string[] }) {
  const { kind, what } = route.useSearch()
  const navigate = route.useNavigate()
  const [explorer] = useState(() => new Explorer(sessionToken() ?? ''))
  useEffect(() => () => explorer.stop(), [explorer])
  const state = useSyncExternalStore(explorer.subscribe, explorer.state)
  const { phase, error } = state
  const filter = (change: Record<string, string | undefined>) =>
    void navigate({ search: (held) => ({ ...held, ...change }), replace: true })

  const begin = (
    <>
      <Button kind="primary" onClick={() => explorer.start('beginning')}>
        Create copy
      </Button>
      <Button onClick={() => explorer.start('now')}>Follow changes</Button>
    </>
  )
  return (
    <Page
      title="Sync explorer"
      beside={<Phase state={state} />}
      about="Every change in one order, as GET /v1/changes returns it, with a cursor that never expires."
      actions={
        <>
          {phase === 'following' && <Button onClick={() => explorer.pause()}>Pause</Button>}
          {phase === 'paused' && (
            <Button kind="primary" onClick={() => explorer.resume()}>
              Resume
            </Button>
          )}
          <ActionMenu
            calls={callsOf(state)}
            actions={
              phase === 'idle'
                ? []
                : [
                    { title: 'Create new copy', run: () => explorer.start('beginning') },
                    { title: 'Follow changes from now', run: () => explorer.start('now') },
                  ]
            }
          />
        </>
      }
    >
      {phase === 'idle' && (
        <Empty title="No copy yet" actions={begin}>
          <p>
            A copy holds everything that your key may read, then each change as it happens. It stays in this
            page and is compared with the service. You can break it on purpose to see differences found and
            repaired.
          </p>
        </Empty>
      )}
      {error !== null && <ErrorState error={error} retry={() => explorer.resume()} />}
      {state.temporaryProblem !== null && (
        <Notice tone="wait" title="Reconnecting">
          <p>{state.temporaryProblem} Nothing is lost: it continues from the same cursor.</p>
        </Notice>
      )}
      {phase !== 'idle' && (
        <>
          <Position state={state} />
          {state.from === 'beginning' && <Proof state={state} explorer={explorer} />}
          <Panel
            title="Changes"
            actions={
              <search aria-label="Changes filters">
                <FilterSelect
                  label="Kind"
                  value={kind}
                  options={readable}
                  onChange={(value) => filter({ kind: value })}
                />{' '}
                <FilterSelect
                  label="Change"
                  value={what}
                  options={[
                    ['created', 'Created'],
                    ['changed', 'Changed'],
                    ['removed', 'Removed'],
                  ]}
                  onChange={(value) => filter({ what: value })}
                />
              </search>
            }
          >
            <Stream
              entries={state.entries}
              kind={kind}
              what={what}
              clearFilters={() => filter({ kind: undefined, what: undefined })}
            />
          </Panel>
        </>
      )}
    </Page>
  )
}

function Phase({ state: { phase, temporaryProblem } }: { readonly state: ExplorerState }) {
  if (phase === 'idle') return null
  if (temporaryProblem !== null) return <Status tone="wait">Reconnecting</Status>
  if (phase === 'ended') return <Status tone="bad">Ended</Status>
  if (phase === 'paused') return <Status tone="wait">Paused</Status>
  return <Status tone="good">{phase === 'reading' ? 'Reading' : 'Live'}</Status>
}

/** The client's position. */
function Position({ state: { cursor, count, total, from, phase } }: { readonly state: ExplorerState }) {
  return (
    <Panel title="Position">
      <Facts
        of={[
          [
            'Changes read',
            <span key="n" className="number">
              {count.toLocaleString('en')}
            </span>,
          ],
          [
            'Rows in the service',
            <span key="t" className="number">
              {total.toLocaleString('en')}
            </span>,
          ],
          ['Started', from === 'beginning' ? 'From the beginning' : 'From now'],
          ['Cursor', cursor === null ? 'None yet' : <CopyText key="c" text={cursor} short />],
        ]}
      />
      {phase === 'reading' && total > 0 && (
        <progress
          className={css.progress}
          aria-label="Rows read"
          max={Math.max(total, count)}
          value={count}
        />
      )}
    </Panel>
  )
}

/** The last request and the next. */
function callsOf({ cursor, from, startedAt, kinds: proved }: ExplorerState): readonly ShownCall[] {
  const changes = { method: 'GET', path: '/v1/changes' } as const
  const first = from === 'now' ? startedAt : '1970-01-01T00:00:00Z'
  const kind = proved.find(({ isExact }) => !isExact)?.kind ?? proved[0]?.kind
  return [
    { ...changes, query: { updatedAfter: first, limit: 100 } },
    ...(cursor === null ? [] : [{ ...changes, query: { cursor, limit: 100, wait: 50 } }]),
    ...(kind === undefined
      ? []
      : [{ method: 'GET' as const, path: `/v1/${kind}s/digests`, query: { parts: 256, idsUpTo: 32 } }]),
  ]
}
