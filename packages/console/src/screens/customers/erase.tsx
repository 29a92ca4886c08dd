/** A person as a whole: erased, with the receipt, or as one file. */
import type { Erasure } from '@deskwire/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { answerOf, api } from '../../api/client.ts'
import { useIntent } from '../../api/intent.ts'
import { keys } from '../../api/keys.ts'
import { Button } from '../../design/button.tsx'
import { CopyText } from '../../design/copy.tsx'
import { Confirm } from '../../design/dialog.tsx'
import { Facts, Page, Panel } from '../../design/page.tsx'
import { saveJson } from '../../design/save-as.ts'
import { Time } from '../../design/time.tsx'
import { useCaller } from '../../session/caller.tsx'
import { type Customer, nameOf } from '../desk/objects.ts'
import css from './erase.module.css'

/** What a customer has, apart from themselves. */
export const belongings = ['conversations', 'messages', 'notes', 'tickets', 'bookings'] as const

interface Counted {
  readonly pagination: { readonly total: number; readonly totalIsExact?: false }
}

export function ConfirmErase({
  customer,
  close,
  onErased,
}: {
  readonly customer: Customer
  readonly close: () => void
  readonly onErased: (receipt: Erasure) => void
}) {
  const { id } = customer
  const { may } = useCaller()
  const client = useQueryClient()
  const intent = useIntent()
  const counted = belongings.filter((plural) => may(`${plural}:read`))
  const counts = useQuery({
    queryKey: keys.list('customers', 'belongings', id),
    queryFn: ({ signal }) =>
      Promise.all(
        counted.map(async (plural) => {
          const query = { customerId: id, limit: 1 }
          const { pagination } = await answerOf<Counted>(api()[plural].list(query, { signal }).page())
          return `${plural}: ${pagination.totalIsExact === false ? 'at least ' : ''}${pagination.total}`
        }),
      ),
    staleTime: 0,
  })
  return (
    <Confirm
      isOpen
      close={close}
      title={`Erase ${nameOf(customer)}?`}
      verb="Erase"
      act={async () => {
        onErased(await answerOf(api().customers.erase(id, { idempotencyKey: intent.keyFor(id) })))
        await client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] === 'list' })
      }}
    >
      <p>
        The customer will be erased permanently, with all of their conversations, messages, internal notes,
        tickets and bookings, and their data in events, deliveries and stored responses.
      </p>
      {counts.data !== undefined && counts.data.length > 0 && <p>At present, {counts.data.join(', ')}.</p>}
      <p>
        Copies that follow the desk erase it too. Backups keep what they hold, and so do receivers of
        webhooks.
      </p>
    </Confirm>
  )
}

/** Shown instead of a customer who was erased. */
export function ErasureReceipt({ receipt }: { readonly receipt: Erasure }) {
  return (
    <Page
      title="Customer erased"
      trail={<Link to="/customers">Customers</Link>}
      about="Save this receipt: it is shown only once. A copy is exact when it has these checkpoints."
      actions={
        <Button kind="primary" onClick={() => saveJson(`erasure-${receipt.id}.json`, receipt)}>
          Download the receipt
        </Button>
      }
    >
      <Panel title="Receipt">
        <Facts
          of={[
            ['Customer', <CopyText key="id" text={receipt.id} />],
            ['Erased', <Time key="at" at={receipt.erasedAt} />],
            ['Stored payloads', receipt.remaining === undefined ? 'Erased' : 'Being erased'],
          ]}
        />
      </Panel>
      <Panel title="Removed rows and new checkpoints">
        <table className={css.table}>
          <thead>
            <tr>
              <th scope="col">Kind</th>
              <th scope="col">Removed</th>
              <th scope="col">Left</th>
              <th scope="col">Digest</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(receipt.removed).map(([kind, count]) => (
              <tr key={kind}>
                <th scope="row">{kind}</th>
                <td>{count}</td>
                <td>{receipt.checkpoint[kind]?.count}</td>
                <td>
                  <code>{receipt.checkpoint[kind]?.digest}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Panel>
    </Page>
  )
}
