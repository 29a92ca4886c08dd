/** A conversation: its messages, the reply, and its fields. */

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { type ComponentType, type ReactNode, useEffect, useMemo, useState } from 'react'
import { answerOf, api } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useList } from '../../api/list.ts'
import { Button } from '../../design/button.tsx'
import { CopyText } from '../../design/copy.tsx'
import { Confirm } from '../../design/dialog.tsx'
import { ActionMenu } from '../../design/menu.tsx'
import { Facts, Page, Panel } from '../../design/page.tsx'
import { FilterSelect } from '../../design/select.tsx'
import { ErrorState, Forbidden, Loading } from '../../design/states.tsx'
import { Time } from '../../design/time.tsx'
import { say, sayProblem } from '../../design/toasts.tsx'
import { useCaller } from '../../session/caller.tsx'
import { Attributes } from '../desk/attributes.tsx'
import { ConfirmDelete } from '../desk/confirm-delete.tsx'
import { CustomerLink, TeammateName } from '../desk/names.tsx'
import { type Conversation, type Message, type Note, teammateOptions, useTeammates } from '../desk/objects.ts'
import { Prose } from '../desk/prose.tsx'
import { Tags } from '../desk/tags.tsx'
import { useChange } from '../desk/use-change.tsx'
import { TicketForm } from '../tickets/ticket-form.tsx'
import { TicketStatus } from '../tickets/ticket-status.tsx'
import { move, readConversation, resolveRead, writeConversation } from './calls.ts'
import css from './conversation.module.css'
import { ConversationEdit, channels } from './conversation-form.tsx'
import { ConversationStatus } from './conversation-status.tsx'
import { CustomerPanel } from './customer-panel.tsx'
import { type Move, movesOf } from './moves.ts'
import { Reply } from './reply.tsx'
import { SummaryForm } from './summary-form.tsx'
import { type Said, Thread } from './thread.tsx'

const route = getRouteApi('/conversations/$id')

export function OneConversation() {
  const { id } = route.useParams()
  const { message } = route.useSearch()
  const navigate = useNavigate()
  const conversation = useQuery({
    queryKey: keys.one('conversations', id),
    queryFn: ({ signal }) => readConversation(id, signal),
  })
  if (conversation.data !== undefined)
    return (
      <ConversationView
        key={id}
        conversation={conversation.data}
        Frame={WholePage}
        sought={message}
        onDeleted={() => navigate({ to: '/conversations' })}
      />
    )
  return (
    <Page title="Conversation" trail={<Link to="/conversations">Conversations</Link>}>
      {conversation.error === null ? (
        <Loading />
      ) : (
        <ErrorState error={conversation.error} retry={() => void conversation.refetch()} />
      )}
    </Page>
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

type Open = 'edit' | 'summary' | 'ticket' | 'unread' | 'delete' | Said | null

const done: Readonly<Record<Move, string>> = {
  escalate: 'Conversation escalated',
  resolve: 'Conversation resolved',
  reopen: 'Conversation reopened',
}

export function ConversationView({
  conversation,
  Frame,
  sought,
  onDeleted,
}: {
  readonly conversation: Conversation
  readonly Frame: ComponentType<FrameProps>
  /** The id of a message to show. */
  readonly sought?: string | undefined
  /** Leaves the conversation. */
  readonly onDeleted: () => unknown
}) {
  const { id, subject, status, assigneeId, customerId } = conversation
  const { may } = useCaller()
  const mayWrite = may('conversations:write')
  const mayRead = may('messages:read')
  const client = useQueryClient()
  const teammates = useTeammates()
  const [open, setOpen] = useState<Open>(null)
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
  const notes = useQuery({
    queryKey: keys.list('notes', { conversationId: id }),
    queryFn: async ({ signal }): Promise<readonly Note[]> =>
      (await answerOf(api().notes.list({ conversationId: id, limit: 100 }, { signal }).page())).data,
    enabled: mayNote,
  })
  // New messages come below those that are read and move nothing, so they are shown at once. Deleted ones go.
  const { news, showNews } = messages
  useEffect(() => {
    if (news.count + news.gone > 0) showNews()
  })
  const seen = useMemo(() => new Set(messages.rows.map((message) => message.id)), [messages.rows])

  const moving = useMutation({
    mutationFn: (to: Move): Promise<unknown> =>
      to === 'resolve' ? resolveRead(id, mayRead ? seen : null) : move(id, to),
    onSuccess: async (came, to) => {
      if (came === 'unread') setOpen('unread')
      else say(done[to])
      await renew()
    },
    onError: async (error) => {
      sayProblem('Could not change the conversation', error)
      await renew()
    },
  })
  const assigning = useChange<Conversation>({
    read: () => readConversation(id),
    write: (patch, ifMatch) => writeConversation(id, patch, ifMatch),
    done: (row) => {
      client.setQueryData(keys.one('conversations', id), row)
      return renew()
    },
    label: () => 'Assignee',
    words: (_, value) => (typeof value === 'string' ? teammates.nameOf(value) : 'Unassigned'),
  })
  const moves = movesOf(conversation)
  const mayDelete = (one: Said) => may(one.direction === 'note' ? 'notes:write' : 'messages:write')
  const actions = [
    ...(moves.includes('escalate') ? [{ title: 'Escalate', run: () => moving.mutate('escalate') }] : []),
    { title: 'Edit', run: () => setOpen('edit') },
    ...(status === 'resolved' ? [{ title: 'Edit summary', run: () => setOpen('summary') }] : []),
    { title: 'Delete', run: () => setOpen('delete'), isDangerous: true },
  ]
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
              every="Unassigned"
              value={assigneeId ?? undefined}
              isBusy={assigning.isBusy}
              options={teammateOptions(teammates.all.filter((one) => one.active || one.id === assigneeId))}
              onChange={(value) => void assigning.put(conversation, { assigneeId: value ?? null })}
            />
          )}
          {isDeleting && <Button onClick={() => setDeleting(false)}>Done deleting</Button>}
          {mayWrite &&
            (status === 'open' ? (
              <Button isBusy={moving.isPending} onClick={() => moving.mutate('resolve')}>
                Resolve
              </Button>
            ) : (
              <Button isBusy={moving.isPending} onClick={() => moving.mutate('reopen')}>
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
                notes={notes.data ?? []}
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
                }}
                resolve={mayWrite && status === 'open' ? () => moving.mutateAsync('resolve') : null}
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
              <Tickets
                conversationId={id}
                add={may('tickets:write') && customerId !== null ? () => setOpen('ticket') : null}
              />
            )}
          </div>
        </div>
      </div>
      {assigning.dialog}
      <ConfirmDelete
        isOpen={open === 'delete'}
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
      {open === 'summary' && <SummaryForm conversation={conversation} close={close} done={renew} />}
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
      <Confirm
        isOpen={open === 'unread'}
        close={close}
        title="Unread message"
        verb="Resolve anyway"
        kind="primary"
        act={async () => {
          await move(id, 'resolve')
          say(done.resolve)
          await renew()
        }}
      >
        <p>The customer wrote while you were replying. Their message is at the end of the conversation.</p>
      </Confirm>
    </Frame>
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
    queryFn: async ({ signal }) =>
      (await answerOf(api().tickets.list({ conversationId }, { signal }).page())).data,
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
      {tickets.data?.length === 0 && <p className={css.soft}>No tickets yet.</p>}
      <ul className={css.tickets}>
        {tickets.data?.map(({ id, number, subject, status }) => (
          <li key={id}>
            <Link to="/tickets/$id" params={{ id }}>
              #{number} {subject}
            </Link>
            <TicketStatus status={status} />
          </li>
        ))}
      </ul>
    </Panel>
  )
}
