/** The inbox: who waits, longest first; their conversation; and who they are. On narrow screens one at a time. */
import { getRouteApi, Link } from '@tanstack/react-router'
import { type KeyboardEvent, lazy, type ReactNode, Suspense, useEffect, useRef } from 'react'
import { Button } from '../../design/button.tsx'
import { FilterSelect } from '../../design/select.tsx'
import { Empty, ErrorState, Loading } from '../../design/states.tsx'
import { Time } from '../../design/time.tsx'
import { beTeammate, useSession } from '../../session/store.ts'
import type { FrameProps } from '../conversations/conversation.tsx'
import { nameOf, teammateOptions, useCustomers, useTeammates } from '../desk/objects.ts'
import { OneObject } from '../desk/one-object.tsx'
import { type Counts, type Entry, sayCount, useCounts, useEntries } from './entries.ts'
import css from './inbox.module.css'

const route = getRouteApi('/inbox')
/** Its forms are most of the script, and the list does not wait for them. */
const ConversationView = lazy(async () => ({
  default: (await import('../conversations/conversation.tsx')).ConversationView,
}))

interface Tab {
  readonly name: string
  readonly title: string
  readonly count: keyof Counts
  readonly query: (teammateId: string | null) => Readonly<Record<string, string>> | null
  readonly none: string
}

const tabs: readonly Tab[] = [
  {
    name: 'mine',
    title: 'Mine',
    count: 'assigned',
    query: (assigneeId) => (assigneeId === null ? null : { assigneeId }),
    none: 'No open conversation is assigned to you.',
  },
  {
    name: 'unassigned',
    title: 'Unassigned',
    count: 'unassigned',
    query: () => ({ assigneeId: 'null' }),
    none: 'Every open conversation has an assignee.',
  },
  {
    name: 'waiting',
    title: 'Waiting',
    count: 'waiting',
    query: () => ({ awaitingReply: 'true' }),
    none: 'No customer is waiting for a reply.',
  },
  { name: 'all', title: 'All', count: 'open', query: () => ({}), none: 'No conversation is open.' },
]

export function Inbox() {
  const { tab: name = 'waiting', id } = route.useSearch()
  const { teammateId } = useSession()
  const counts = useCounts(teammateId)
  const tab = tabs.find((one) => one.name === name) ?? (tabs[2] as Tab)
  const chosen = useRef<HTMLDivElement>(null)
  const shown = useRef(id)
  // From the pressed link, which stays, the reply would be behind the whole list.
  useEffect(() => {
    if (shown.current !== id) chosen.current?.focus({ preventScroll: true })
    shown.current = id
  }, [id])
  return (
    <main className={css.inbox} id="content" tabIndex={-1} data-open={id !== undefined || undefined}>
      <title>Inbox · Deskwire</title>
      <h1 className="unseen">Inbox</h1>
      <section className={css.list} aria-label="Conversations">
        <header>
          <span className={css.title} aria-hidden="true">
            Inbox
          </span>
          <nav aria-label="Inbox views" className={css.tabs}>
            {tabs.map((one) => (
              <Link
                key={one.name}
                to="/inbox"
                search={{ tab: one.name, id }}
                className={css.tab}
                aria-current={one === tab ? 'page' : undefined}
                activeProps={{}}
              >
                {one.title}
                {counts !== undefined && (one.name !== 'mine' || teammateId !== null) && (
                  <span className={css.count}>{sayCount(counts[one.count])}</span>
                )}
              </Link>
            ))}
          </nav>
        </header>
        <Entries key={tab.name} tab={tab} teammateId={teammateId} chosen={id} />
      </section>
      <div className={css.chosen} ref={chosen} tabIndex={-1}>
        {id === undefined ? <NoneChosen /> : <Chosen key={id} id={id} tab={tab} />}
      </div>
    </main>
  )
}

function Entries({
  tab,
  teammateId,
  chosen,
}: {
  readonly tab: Tab
  readonly teammateId: string | null
  readonly chosen: string | undefined
}) {
  const query = tab.query(teammateId)
  const list = useEntries(query)
  const entries = list.data?.pages.flatMap(({ data }) => data) ?? []
  const customers = useCustomers(entries.map(({ conversation }) => conversation.customerId))
  const teammates = useTeammates()
  if (query === null) {
    return (
      <Empty title="Who are you?">
        <p>
          Choose your name to see the conversations assigned to you. Customers see the name on your replies.
        </p>
        <FilterSelect
          label="I am"
          every="Choose…"
          value={undefined}
          options={teammateOptions(teammates.all.filter(({ active }) => active))}
          onChange={(value) => beTeammate(value ?? null)}
        />
      </Empty>
    )
  }
  if (list.isPending) return <Loading lines={8} />
  if (list.error !== null && entries.length === 0)
    return <ErrorState error={list.error} retry={() => void list.refetch()} />
  if (entries.length === 0) return <p className={css.none}>{tab.none}</p>
  return (
    <>
      <ol onKeyDown={moveBetweenEntries}>
        {entries.map((entry) => {
          const { id, customerId, assigneeId } = entry.conversation
          const customer = customers.get(customerId ?? '')
          return (
            <li key={id}>
              <Link
                to="/inbox"
                search={{ tab: tab.name, id }}
                className={css.entry}
                aria-current={id === chosen ? 'true' : undefined}
                activeProps={{}}
                preload={false}
                data-row
              >
                <EntryText
                  entry={entry}
                  customer={customer === undefined ? 'Customer' : nameOf(customer)}
                  assignee={assigneeId === null ? null : teammates.nameOf(assigneeId)}
                />
              </Link>
            </li>
          )
        })}
      </ol>
      {list.hasNextPage && (
        <Button isBusy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Load more
        </Button>
      )}
    </>
  )
}

const authors: Readonly<Record<string, string>> = {
  teammate: 'Reply: ',
  ai: 'AI: ',
  system: 'System: ',
}

function EntryText({
  entry: { conversation, lastMessage, awaitingReplySince },
  customer,
  assignee,
}: {
  readonly entry: Entry
  readonly customer: string
  readonly assignee: string | null
}) {
  const at = awaitingReplySince ?? lastMessage?.sentAt ?? conversation.createdAt
  return (
    <>
      <span className={css.line}>
        <strong dir="auto">{customer}</strong>
        <span className={css.at} data-waits={awaitingReplySince !== null || undefined}>
          {awaitingReplySince !== null && <span className="unseen">waiting since </span>}
          <Time at={at} />
        </span>
      </span>
      <span className={css.line}>
        <span dir="auto">{conversation.subject || 'No subject'}</span>
        {assignee !== null && <small dir="auto">{assignee}</small>}
      </span>
      {lastMessage !== null && (
        <span className={css.preview}>
          {authors[lastMessage.author.type] ?? ''}
          <bdi>{lastMessage.preview || 'Attachment'}</bdi>
        </span>
      )}
    </>
  )
}

/** Up and down, Home and End. */
function moveBetweenEntries(event: KeyboardEvent<HTMLOListElement>): void {
  const links = [...event.currentTarget.querySelectorAll('a')]
  const at = links.indexOf(document.activeElement as HTMLAnchorElement)
  if (at === -1) return
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key]
  if (next === undefined) return
  event.preventDefault()
  links[next]?.focus()
}

function NoneChosen() {
  return (
    <div className={css.noneChosen}>
      <Empty title="No conversation selected">
        <p>Select one from the list. The longest wait comes first.</p>
      </Empty>
    </div>
  )
}

function Chosen({ id, tab }: { readonly id: string; readonly tab: Tab }) {
  const navigate = route.useNavigate()
  const { teammateId } = useSession()
  const list = useEntries(tab.query(teammateId))
  const entries = list.data?.pages.flatMap(({ data }) => data) ?? []
  const ids = entries.map(({ conversation }) => conversation.id)
  const at = ids.indexOf(id)
  // Resolved, it leaves the list: then its neighbour as it was is meant.
  const next = useRef<string>(undefined)
  if (at !== -1) next.current = ids[at + 1] ?? ids[at - 1]
  return (
    <OneObject kind="conversations" id={id} noun="Conversation" Frame={Pane}>
      {(conversation) => (
        <Suspense fallback={<Loading />}>
          <ConversationView
            conversation={conversation}
            Frame={Pane}
            onDeleted={() => navigate({ search: ({ tab }) => ({ tab }) })}
            onResolved={() => navigate({ search: { tab: tab.name, id: next.current } })}
            onReopened={() => navigate({ search: { tab: tab.name, id } })}
          />
        </Suspense>
      )}
    </OneObject>
  )
}

function Pane({ title, beside, actions, children }: FrameProps): ReactNode {
  const { tab } = route.useSearch()
  return (
    <section className={css.pane} aria-label={title}>
      <header className={css.head}>
        <div className={css.naming}>
          <Link to="/inbox" search={{ tab }} className={css.back}>
            Inbox
          </Link>
          <h2 dir="auto">{title}</h2>
          {beside}
        </div>
        <div className={css.actions}>{actions}</div>
      </header>
      {children}
    </section>
  )
}
