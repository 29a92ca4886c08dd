/** A customer with conversations, tickets and bookings. */

import type { Erasure } from '@deskwire/sdk'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { answerOf, api } from '../../api/client.ts'
import { keys, type Plural } from '../../api/keys.ts'
import { type ListPage, type Place, type Row, useList } from '../../api/list.ts'
import { Button } from '../../design/button.tsx'
import { CopyText } from '../../design/copy.tsx'
import { type Column, DataTable, type DataTableProps } from '../../design/data-table.tsx'
import { ActionMenu } from '../../design/menu.tsx'
import { Facts, Page, Panel } from '../../design/page.tsx'
import { Time } from '../../design/time.tsx'
import { say, sayProblem } from '../../design/toasts.tsx'
import { useOffered } from '../../router/offered.ts'
import { useCaller } from '../../session/caller.tsx'
import { BookingForm } from '../bookings/booking-form.tsx'
import { BookingStatus } from '../bookings/booking-status.tsx'
import { sayWhen } from '../bookings/when.ts'
import { ConversationForm, channels } from '../conversations/conversation-form.tsx'
import { ConversationStatus } from '../conversations/conversation-status.tsx'
import { Attributes } from '../desk/attributes.tsx'
import { ConfirmDelete } from '../desk/confirm-delete.tsx'
import { type Booking, type Conversation, type Customer, nameOf, type Ticket } from '../desk/objects.ts'
import { OneObject } from '../desk/one-object.tsx'
import { Tags } from '../desk/tags.tsx'
import { TicketForm } from '../tickets/ticket-form.tsx'
import { Priority, TicketStatus } from '../tickets/ticket-status.tsx'
import { CustomerForm } from './customer-form.tsx'
import { belongings, ConfirmErase, ErasureReceipt, saveAs } from './erase.tsx'

const route = getRouteApi('/customers/$id')

export function OneCustomer() {
  const { id } = route.useParams()
  const [receipt, setReceipt] = useState<Erasure | null>(null)
  // Not part of what is removed: an erasure whose response is lost can be repeated, for its receipt.
  const [erased, setErased] = useState<Customer | null>(null)
  if (receipt?.id === id) return <ErasureReceipt receipt={receipt} />
  return (
    <>
      <OneObject kind="customers" id={id} noun="Customer" trail={<Link to="/customers">Customers</Link>}>
        {(customer) => <Known key={id} customer={customer} erase={() => setErased(customer)} />}
      </OneObject>
      {erased?.id === id && (
        <ConfirmErase customer={erased} close={() => setErased(null)} onErased={setReceipt} />
      )}
    </>
  )
}

type Open = 'edit' | 'delete' | 'conversation' | 'ticket' | 'booking' | null

function Known({ customer, erase }: { readonly customer: Customer; readonly erase: () => void }) {
  const { id, email, phone, company, locale, timezone, externalId, tags, customAttributes } = customer
  const { may } = useCaller()
  const navigate = route.useNavigate()
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const given = { customerId: id }
  const query = { customerId: id }
  useOffered([
    ...(may('customers:write') ? [{ title: 'Edit', run: () => setOpen('edit') }] : []),
    ...(['conversation', 'ticket', 'booking'] as const)
      .filter((noun) => may(`${noun}s:write`))
      .map((noun) => ({ title: `Create ${noun}`, run: () => setOpen(noun) })),
  ])

  return (
    <Page
      title={nameOf(customer)}
      trail={<Link to="/customers">Customers</Link>}
      beside={<Tags of={tags} />}
      actions={
        <>
          {may('customers:write') && <Button onClick={() => setOpen('edit')}>Edit</Button>}
          <ActionMenu
            calls={[
              { method: 'GET', path: `/v1/customers/${id}` },
              { method: 'GET', path: '/v1/conversations', query },
              { method: 'GET', path: '/v1/tickets', query },
              { method: 'GET', path: '/v1/bookings', query },
              { method: 'GET', path: `/v1/customers/${id}/export` },
              ...(may('customers:erase')
                ? [{ method: 'POST', path: `/v1/customers/${id}/erase` } as const]
                : []),
            ]}
            actions={[
              ...(belongings.every((plural) => may(`${plural}:read`))
                ? [{ title: 'Export everything', run: () => void exportAll(customer) }]
                : []),
              ...(may('customers:write')
                ? [{ title: 'Delete', run: () => setOpen('delete'), isDangerous: true }]
                : []),
              ...(may('customers:erase')
                ? [{ title: 'Erase everything', run: erase, isDangerous: true }]
                : []),
            ]}
          />
        </>
      }
    >
      <Panel title="Details">
        <Facts
          of={[
            ['Email', copied(email)],
            ['Phone', copied(phone)],
            ['Company', company ?? '–'],
            ['Language', locale ?? '–'],
            ['Time zone', timezone ?? '–'],
            ['External ID', copied(externalId)],
            ['ID', <CopyText key="id" text={id} short />],
            ['Added', <Time key="added" at={customer.createdAt} />],
          ]}
        />
      </Panel>
      <Attributes of={customAttributes} />
      {may('conversations:read') && (
        <Section<Conversation>
          title="Conversations"
          noun="conversations"
          add={may('conversations:write') ? ['Create conversation', () => setOpen('conversation')] : null}
          kind="conversations"
          customerId={id}
          load={async (page, signal) =>
            await answerOf(
              api()
                .conversations.list({ ...query, ...page }, { signal })
                .page(),
            )
          }
          columns={[
            { title: 'Subject', cell: ({ subject }) => subject || 'No subject', isWide: true },
            {
              title: 'Channel',
              cell: ({ channel: of }) => channels.find(([name]) => name === of)?.[1] ?? of,
            },
            { title: 'Status', width: [9, 10.5], cell: (one) => <ConversationStatus conversation={one} /> },
            {
              title: 'Last message',
              align: 'end',
              cell: ({ lastMessageAt }) => (lastMessageAt === null ? '–' : <Time at={lastMessageAt} />),
            },
          ]}
          to={(one) => ({ to: '/conversations/$id', params: { id: one.id } })}
        />
      )}
      {may('tickets:read') && (
        <Section<Ticket>
          title="Tickets"
          noun="tickets"
          add={may('tickets:write') ? ['Create ticket', () => setOpen('ticket')] : null}
          kind="tickets"
          customerId={id}
          load={async (page, signal) =>
            await answerOf(
              api()
                .tickets.list({ ...query, ...page }, { signal })
                .page(),
            )
          }
          columns={[
            { title: 'Subject', cell: ({ number, subject }) => `#${number} ${subject}`, isWide: true },
            { title: 'Priority', cell: ({ priority }) => <Priority of={priority} /> },
            { title: 'Status', cell: ({ status }) => <TicketStatus status={status} /> },
            { title: 'Created', align: 'end', cell: ({ createdAt }) => <Time at={createdAt} /> },
          ]}
          to={(one) => ({ to: '/tickets/$id', params: { id: one.id } })}
        />
      )}
      {may('bookings:read') && (
        <Section<Booking>
          title="Bookings"
          noun="bookings"
          add={may('bookings:write') ? ['Create booking', () => setOpen('booking')] : null}
          kind="bookings"
          customerId={id}
          load={async (page, signal) =>
            await answerOf(
              api()
                .bookings.list({ ...query, ...page }, { signal })
                .page(),
            )
          }
          columns={[
            { title: 'Title', cell: ({ title }) => title, isWide: true },
            { title: 'When', cell: (one) => sayWhen(one), width: [12, 14.5] },
            { title: 'Status', cell: ({ status }) => <BookingStatus status={status} /> },
          ]}
          to={(one) => ({ to: '/bookings/$id', params: { id: one.id } })}
        />
      )}
      {open === 'edit' && <CustomerForm customer={customer} close={close} />}
      {open === 'conversation' && (
        <ConversationForm
          given={given}
          close={close}
          onDone={(made) => void navigate({ to: '/conversations/$id', params: { id: made.id } })}
        />
      )}
      {open === 'ticket' && (
        <TicketForm
          given={given}
          close={close}
          onDone={(made) => void navigate({ to: '/tickets/$id', params: { id: made.id } })}
        />
      )}
      {open === 'booking' && (
        <BookingForm
          given={{ ...given, timezone: timezone ?? undefined }}
          close={close}
          onDone={(made) => void navigate({ to: '/bookings/$id', params: { id: made.id } })}
        />
      )}
      {open === 'delete' && (
        <ConfirmDelete
          close={close}
          kind="customers"
          noun="customer"
          row={customer}
          after={() => navigate({ to: '/customers' })}
        >
          <p>
            <bdi>{nameOf(customer)}</bdi> and all of their tickets will be deleted permanently. Their
            conversations and bookings stay, without a customer.
          </p>
        </ConfirmDelete>
      )}
    </Page>
  )
}

async function exportAll({ id }: Customer): Promise<void> {
  try {
    saveAs(`customer-${id}.json`, await answerOf(api().customers.exportOne(id)))
    say('Customer exported')
  } catch (error) {
    sayProblem('Could not export', error)
  }
}

function copied(text: string | null): ReactNode {
  return text === null ? '–' : <CopyText text={text} />
}

/** The newest five of the customer's, and a link to more. */
function Section<T extends Row>({
  title,
  noun,
  add,
  kind,
  customerId,
  load,
  columns,
  to,
}: {
  readonly title: string
  readonly noun: string
  readonly add: readonly [verb: string, run: () => void] | null
  readonly kind: Plural
  readonly customerId: string
  readonly load: (page: Place, signal?: AbortSignal) => Promise<ListPage<T>>
  readonly columns: readonly Column<T>[]
  readonly to: NonNullable<DataTableProps<T>['to']>
}) {
  const list = useList({ key: keys.list(kind, { customerId }), load, pageSize: 5 })
  return (
    <Panel
      title={title}
      actions={
        add && (
          <Button size="s" onClick={add[1]}>
            {add[0]}
          </Button>
        )
      }
    >
      <DataTable
        caption={`${title}, newest first`}
        list={list}
        columns={columns}
        to={to}
        empty={<p>No {noun} yet.</p>}
      />
    </Panel>
  )
}
