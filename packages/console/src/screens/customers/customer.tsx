/** A customer, and everything of theirs on one timeline. */

import type { Erasure } from '@deskwire/sdk'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { answerOf, api } from '../../api/client.ts'
import { Button } from '../../design/button.tsx'
import { CopyText } from '../../design/copy.tsx'
import { ActionMenu } from '../../design/menu.tsx'
import { Facts, Page, Panel } from '../../design/page.tsx'
import { saveJson } from '../../design/save-as.ts'
import { Time } from '../../design/time.tsx'
import { say, sayProblem } from '../../design/toasts.tsx'
import { useOffered } from '../../router/offered.ts'
import { useCaller } from '../../session/caller.tsx'
import { BookingForm } from '../bookings/booking-form.tsx'
import { ConversationForm } from '../conversations/conversation-form.tsx'
import { Activity } from '../desk/activity.tsx'
import { Attributes } from '../desk/attributes.tsx'
import { ConfirmDelete } from '../desk/confirm-delete.tsx'
import { type Customer, nameOf } from '../desk/objects.ts'
import { OneObject } from '../desk/one-object.tsx'
import { Tags } from '../desk/tags.tsx'
import { TicketForm } from '../tickets/ticket-form.tsx'
import { CustomerForm } from './customer-form.tsx'
import { belongings, ConfirmErase, ErasureReceipt } from './erase.tsx'
import { Timeline } from './timeline.tsx'

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

const creatable = [
  ['conversations', 'conversation'],
  ['tickets', 'ticket'],
  ['bookings', 'booking'],
] as const

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
              { method: 'GET', path: '/v1/notes', query },
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
      <Timeline
        customerId={id}
        actions={creatable.map(([kind, what]) =>
          may(`${kind}:write`) ? (
            <Button key={kind} size="s" onClick={() => setOpen(what)}>
              Create {what}
            </Button>
          ) : null,
        )}
      />
      <Activity of={customer} />
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
    saveJson(`customer-${id}.json`, await answerOf(api().customers.exportOne(id)))
    say('Customer exported')
  } catch (error) {
    sayProblem('Could not export', error)
  }
}

function copied(text: string | null): ReactNode {
  return text === null ? '–' : <CopyText text={text} />
}
