/** A conversation: its messages, the reply, and its fields. */

import { clipped } from '@deskwire/sdk/clipped'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { type ComponentType, type ReactNode, useEffect, useState } from 'react'
import { answerOf, api } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useList } from '../../api/list.ts'
import { Button } from '../../design/button.tsx'
import { CopyText } from '../../design/copy.tsx'
import { Confirm } from '../../design/dialog.tsx'
import { ActionMenu } from '../../design/menu.tsx'
import { Facts, Page, Panel } from '../../design/page.tsx'
import { FilterSelect } from '../../design/select.tsx'
import { ErrorState, Forbidden } from '../../design/states.tsx'
import { Time } from '../../design/time.tsx'
import { say, sayProblem } from '../../design/toasts.tsx'
import { useOffered } from '../../router/offered.ts'
import { useCaller } from '../../session/caller.tsx'
import { BookingForm } from '../bookings/booking-form.tsx'
import { Attributes } from '../desk/attributes.tsx'
import { ConfirmDelete } from '../desk/confirm-delete.tsx'
import { CustomerLink, TeammateName } from '../desk/names.tsx'
import {
  type Conversation,
  type Message,
  type Note,
  teammateOptions,
  useAssignActions,
  useTeammates,
} from '../desk/objects.ts'
import { OneObject } from '../desk/one-object.tsx'
import { Prose } from '../desk/prose.tsx'
import { Tags } from '../desk/tags.tsx'
import { useChange } from '../desk/use-change.tsx'
import { TicketForm } from '../tickets/ticket-form.tsx'
import { TicketStatus } from '../tickets/ticket-status.tsx'
import { move, resolveRead } from './calls.ts'
import css from './conversation.module.css'
import { ConversationEdit, channels } from './conversation-form.tsx'
import { ConversationStatus } from './conversation-status.tsx'
import { CustomerPanel } from './customer-panel.tsx'
import { movesOf } from './moves.ts'
import { Reply } from './reply.tsx'
import { SummaryForm } from './summary-form.tsx'
import { type Said, Thread } from './thread.tsx'
import { useThreadEnd } from './thread-end.ts'

const route = getRouteApi('/conversations/$id')

export function OneConversation() {
  const { id } = route.useParams()
  const { message } = route.useSearch()
  const navigate = useNavigate()
  return (
    <OneObject
      kind="conversations"
      id={id}
      noun="Conversation"
      trail={<Link to="/conversations">Conversations</Link>}
    >
      {(conversation) => (
        <ConversationView
          key={id}
          conversation={conversation}
          Frame={WholePage}
          sought={message}
          onDeleted={() => navigate({ to: '/conversations' })}
        />
      )}
    </OneObject>
  )
}

/** What a conversation is shown in: its title and actions stay in sight. */
export interface FrameProps {
  readonly title: string
  readonly beside?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}

function WholePage(props: FrameProps) {
  return <Page {...props} trail={<Link to="/conversations">Conversations</Link>} isSticky />
}

type Open = 'edit' | 'summary' | 'ticket' | 'booking' | 'delete' | Said | null

/** Messages that came before the conversation was resolved, and those that were seen. */
interface Unread {
  readonly messages: readonly Message[]
  readonly seen: ReadonlySet<string>
}

export function ConversationView({
  conversation,
  Frame,
  sought,
  onDeleted,
  onResolved,
  onReopened,
}: {
  readonly conversation: Conversation
  readonly Frame: ComponentType<FrameProps>
  /** The id of a message to show. */
  readonly sought?: string | undefined
  /** Leaves the conversation. */
  readonly onDeleted: () => unknown
  /** Shows what is to be done next. */
  readonly onResolved?: () => unknown
  /** Shows this conversation again, after its resolution was undone. */
  readonly onReopened?: () => unknown
}) {
  const { id, subject, status, assigneeId, customerId } = conversation
  const { may } = useCaller()
  const mayWrite = may('conversations:write')
  const mayRead = may('messages:read')
  const client = useQueryClient()
  const teammates = useTeammates()
  const [open, setOpen] = useState<Open>(null)
  const [unread, setUnread] = useState<Unread | null>(null)
  const [isDeleting, setDeleting] = useState(false)
  const close = () => setOpen(null)
  const renew = () => client.invalidateQueries({ queryKey: keys.all('conversations') })

  const messages = useList<Message>({
    key: keys.list('messages', { conversationId: id }),
    load: async (page, signal) =>
      await answerOf(
        api()
          .messages.list({ conversationId: id, ...page }, { signal })
          .page(),
      ),
    pageSize: 40,
    isEnabled: mayRead,
  })
  const mayNote = may('notes:read')
  const notes = useList<Note>({
    key: keys.list('notes', { conversationId: id }),
    load: async (page, signal) =>
      await answerOf(
        api()
          .notes.list({ conversationId: id, ...page }, { signal })
          .page(),
      ),
    pageSize: 100,
    isEnabled: mayNote,
  })
  // New messages come below those that are read and move nothing, so they are shown at once. Deleted ones go.
  useEffect(() => {
    for (const { news, showNews } of [messages, notes]) if (news.count + news.gone > 0) showNews()
  })
  const thread = useThreadEnd(messages.rows, sought !== undefined)

  const changing = useChange('conversations')
  const [moving, setMoving] = useState(false)
  async function resolve(seen: ReadonlySet<string> | null): Promise<void> {
    setMoving(true)
    try {
      const messages = await resolveRead(id, seen)
      setUnread(messages.length === 0 ? null : { messages, seen: seen ?? new Set() })
      if (messages.length > 0) return
      say('Conversation resolved', <Undo undo={undo} />)
      onResolved?.()
    } finally {
      setMoving(false)
      await renew()
    }
  }
  async function undo(): Promise<void> {
    try {
      // Its version has changed with the summary; the state alone decides whether it is possible.
      await move(id, 'reopen')
      say('Conversation reopened')
      onReopened?.()
    } catch (error) {
      sayProblem('Could not reopen the conversation', error)
    }
    await renew()
  }
  /** At the moment when it is pressed: what comes later was not seen. Reports its outcome itself. */
  function beginResolving(): () => Promise<void> {
    const seen = new Set(messages.rows.map((message) => message.id))
    for (const message of thread.unseen) seen.delete(message.id)
    return () =>
      resolve(mayRead ? seen : null).catch((error) => sayProblem('Could not change the conversation', error))
  }
  const put = (to: 'escalate' | 'reopen') =>
    changing.put({
      base: conversation,
      patch: to === 'reopen' ? { status: 'open' } : { handledBy: 'human' },
      action: {
        verb: to === 'reopen' ? 'Reopen' : 'Escalate',
        write: (ifMatch) => move(id, to, ifMatch),
        isAllowed: (row) => movesOf(row).includes(to),
      },
      done: () => say(to === 'reopen' ? 'Conversation reopened' : 'Conversation escalated'),
    })
  const moves = movesOf(conversation)
  const mayDelete = (one: Said) => may(one.direction === 'note' ? 'notes:write' : 'messages:write')
  const actions = [
    ...(moves.includes('escalate') ? [{ title: 'Escalate', run: () => void put('escalate') }] : []),
    { title: 'Edit', run: () => setOpen('edit') },
    ...(status === 'resolved' ? [{ title: 'Edit summary', run: () => setOpen('summary') }] : []),
    { title: 'Delete', run: () => setOpen('delete'), isDangerous: true },
  ]
  const assign = (assigneeId: string | null) =>
    void changing.put({ base: conversation, patch: { assigneeId } })
  useAssignActions(conversation, mayWrite ? assign : null)
  const mayCreate = (kind: 'tickets' | 'bookings') => customerId !== null && may(`${kind}:write`)
  useOffered([
    ...(mayWrite && status === 'resolved' ? [{ title: 'Reopen', run: () => void put('reopen') }] : []),
    ...(mayCreate('tickets') ? [{ title: 'Create ticket', run: () => setOpen('ticket') }] : []),
    ...(mayCreate('bookings') ? [{ title: 'Create booking', run: () => setOpen('booking') }] : []),
  ])
  const deletion = { title: 'Delete messages', run: () => setDeleting(true) }

  return (
    <Frame
      title={subject || 'No subject'}
      beside={<ConversationStatus conversation={conversation} />}
      actions={
        <>
          {mayWrite && may('teammates:read') && (
            <FilterSelect
              label="Assignee"
              shortcut="a"
              every="Unassigned"
              value={assigneeId ?? undefined}
              isBusy={changing.isBusy}
              options={teammateOptions(teammates.all.filter((one) => one.active || one.id === assigneeId))}
              onChange={(value) => assign(value ?? null)}
            />
          )}
          {isDeleting && <Button onClick={() => setDeleting(false)}>Done deleting</Button>}
          {mayWrite &&
            (status === 'open' ? (
              <Button aria-keyshortcuts="e" isBusy={moving} onClick={() => void beginResolving()()}>
                Resolve
              </Button>
            ) : (
              <Button isBusy={changing.isBusy} onClick={() => void put('reopen')}>
                Reopen
              </Button>
            ))}
          <ActionMenu
            calls={[
              { method: 'GET', path: '/v1/messages', query: { conversationId: id } },
              {
                method: 'POST',
                path: '/v1/messages',
                body: {
                  conversationId: id,
                  direction: 'outbound',
                  author: { type: 'teammate' },
                  body: 'Your reply',
                },
              },
              { method: 'POST', path: `/v1/conversations/${id}/resolve` },
            ]}
            actions={[
              ...(may('messages:write') || may('notes:write') ? [deletion] : []),
              ...(mayWrite ? actions : []),
            ]}
          />
        </>
      }
    >
      <div className={css.view}>
        <div className={css.columns}>
          <div className={css.said}>
            {mayRead ? (
              <Thread
                messages={messages}
                notes={notes}
                end={thread.end}
                sought={sought}
                removal={(one) => (isDeleting && mayDelete(one) ? () => setOpen(one) : null)}
              />
            ) : (
              <Forbidden scope="messages:read" />
            )}
            {status === 'resolved' && <Summary conversation={conversation} />}
            {(may('messages:write') || may('notes:write')) && (
              <Reply
                conversation={conversation}
                onSent={async () => {
                  await Promise.all([
                    client.invalidateQueries({ queryKey: keys.list('notes', { conversationId: id }) }),
                    client.invalidateQueries({ queryKey: keys.list('messages', { conversationId: id }) }),
                    renew(),
                  ])
                  thread.goTo()
                }}
                beginResolving={mayWrite && status === 'open' ? beginResolving : null}
                form={thread.cover}
                unseen={
                  thread.unseen.length > 0 && (
                    <Button size="s" onClick={thread.goTo}>
                      {thread.unseen.length === 1 ? '1 new message' : `${thread.unseen.length} new messages`}
                    </Button>
                  )
                }
              />
            )}
          </div>
          <div className={css.beside}>
            {may('customers:read') && <CustomerPanel id={customerId} except={id} />}
            <Panel title="Details">
              <Facts
                of={[
                  ...(may('customers:read')
                    ? []
                    : [['Customer', <CustomerLink key="customer" id={customerId} />] as const]),
                  ...(mayWrite && may('teammates:read')
                    ? []
                    : [['Assignee', <TeammateName key="assignee" id={assigneeId} />] as const]),
                  [
                    'Channel',
                    channels.find(([name]) => name === conversation.channel)?.[1] ?? conversation.channel,
                  ],
                  ['Created', <Time key="started" at={conversation.createdAt} />],
                  ['ID', <CopyText key="id" text={id} short />],
                  ...(conversation.tags.length > 0
                    ? [['Tags', <Tags key="tags" of={conversation.tags} />] as const]
                    : []),
                ]}
              />
            </Panel>
            <Attributes of={conversation.customAttributes} />
            {may('tickets:read') && (
              <Tickets conversationId={id} add={mayCreate('tickets') ? () => setOpen('ticket') : null} />
            )}
          </div>
        </div>
      </div>
      {changing.dialog}
      {open === 'delete' && (
        <ConfirmDelete
          close={close}
          kind="conversations"
          noun="conversation"
          row={conversation}
          after={onDeleted}
        >
          <p>
            <bdi>{subject || 'It'}</bdi> will be deleted permanently, with every message and internal note in
            it. Tickets and bookings that came of it stay.
          </p>
        </ConfirmDelete>
      )}
      {typeof open === 'object' && open !== null && (
        <ConfirmDelete
          close={close}
          kind={open.direction === 'note' ? 'notes' : 'messages'}
          noun={open.direction === 'note' ? 'note' : 'message'}
          row={open}
        >
          <p>It will be deleted permanently, here and in every copy that follows the desk.</p>
        </ConfirmDelete>
      )}
      {open === 'edit' && <ConversationEdit conversation={conversation} close={close} />}
      {open === 'summary' && <SummaryForm conversation={conversation} close={close} />}
      {open === 'ticket' && (
        <TicketForm
          given={{ customerId, conversationId: id, subject: subject ?? undefined, assigneeId }}
          close={close}
          link={(made) => (
            <Link to="/tickets/$id" params={{ id: made.id }}>
              View ticket #{made.number}
            </Link>
          )}
        />
      )}
      {open === 'booking' && (
        <BookingForm
          given={{ customerId, conversationId: id, assigneeId }}
          close={close}
          link={(made) => (
            <Link to="/bookings/$id" params={{ id: made.id }}>
              View booking
            </Link>
          )}
        />
      )}
      {unread !== null && (
        <Confirm
          isOpen
          close={() => setUnread(null)}
          title="Unread message"
          verb="Resolve anyway"
          kind="primary"
          closesItself
          act={() => resolve(new Set([...unread.seen, ...unread.messages.map((message) => message.id)]))}
        >
          <p>The customer wrote while you were replying:</p>
          {unread.messages.toReversed().map((message) => (
            <blockquote key={message.id} className={css.unread} dir="auto">
              {clipped(message.body || 'Attachment', 200)}
            </blockquote>
          ))}
        </Confirm>
      )}
    </Frame>
  )
}

function Undo({ undo }: { readonly undo: () => Promise<void> }) {
  const [isDone, setDone] = useState(false)
  return (
    <Button
      size="s"
      disabled={isDone}
      onClick={() => {
        setDone(true)
        void undo()
      }}
    >
      Undo
    </Button>
  )
}

function Summary({ conversation: { summary, summarizedAt } }: { readonly conversation: Conversation }) {
  return (
    <Panel title="Summary">
      {summary === null ? (
        <p className={css.soft}>The summary is written a few minutes after the conversation is resolved.</p>
      ) : (
        <>
          <Prose text={summary} none="" />
          {summarizedAt !== null && (
            <p className={css.soft}>
              Written <Time at={summarizedAt} />
            </p>
          )}
        </>
      )}
    </Panel>
  )
}

function Tickets({
  conversationId,
  add,
}: {
  readonly conversationId: string
  readonly add: (() => void) | null
}) {
  const tickets = useQuery({
    queryKey: keys.list('tickets', { conversationId }),
    queryFn: async ({ signal }) => await answerOf(api().tickets.list({ conversationId }, { signal }).page()),
  })
  return (
    <Panel
      title="Tickets"
      actions={
        add && (
          <Button size="s" onClick={add}>
            Create ticket
          </Button>
        )
      }
    >
      {tickets.error !== null && <ErrorState error={tickets.error} retry={() => void tickets.refetch()} />}
      {tickets.data?.data.length === 0 && <p className={css.soft}>No tickets yet.</p>}
      <ul className={css.tickets}>
        {tickets.data?.data.map(({ id, number, subject, status }) => (
          <li key={id}>
            <Link to="/tickets/$id" params={{ id }}>
              #{number} <bdi>{subject}</bdi>
            </Link>
            <TicketStatus status={status} />
          </li>
        ))}
      </ul>
      {tickets.data?.pagination.hasMore && (
        <p className={css.soft}>The newest {tickets.data.data.length} tickets are shown.</p>
      )}
    </Panel>
  )
}
