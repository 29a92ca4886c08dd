/** Resends the failed deliveries of a filter: as many as it says, and exactly those. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, api, type Delivery, type Webhook } from '../../api/client.ts'
import { forEach } from '../../api/each.ts'
import { Confirm } from '../../design/dialog.tsx'
import { ErrorState, Loading } from '../../design/states.tsx'
import { say } from '../../design/toasts.tsx'
import { hostOf } from '../endpoints/endpoint-list.ts'

/** Each is a call. An endpoint with more resends its missed events as one job. */
const atMost = 500

/** Of the list, whatever its status. */
type FailedFilter = Omit<NonNullable<Parameters<ReturnType<typeof api>['deliveries']['list']>[0]>, 'status'>

interface ResendAllProps {
  readonly close: () => void
  readonly filter: FailedFilter
  readonly endpoints: ReadonlyMap<string, Webhook>
}

export function ResendAll({ close, filter, endpoints }: ResendAllProps) {
  const client = useQueryClient()
  const [done, setDone] = useState(0)
  const read = useQuery({
    queryKey: ['deliveries', 'to resend', filter],
    queryFn: ({ signal }) => readFailed(filter, signal),
    staleTime: Infinity,
    gcTime: 0,
  })
  const failed = read.data?.failed ?? []
  const isActive = ({ webhookId }: Delivery) => endpoints.get(webhookId)?.status === 'active'
  const chosen = failed.filter(isActive)
  const rest = failed.length - chosen.length

  async function resend(): Promise<void> {
    // Another may have resent one meanwhile, or it is gone: the rest goes on.
    const { refused, refusals } = await forEach(chosen, async ({ id, webhookId }) => {
      try {
        await answerOf(api().deliveries.retry(webhookId, id))
      } finally {
        setDone((before) => before + 1)
      }
    })
    await client.invalidateQueries({ queryKey: ['deliveries'] })
    say(`${sayDeliveries(chosen.length - refused)} resent`)
    if (refused > 0) throw new Error(`${sayDeliveries(refused)} not resent: ${refusals.join(' ')}`)
  }

  const title =
    read.data === undefined ? 'Resend failed deliveries' : `Resend ${sayDeliveries(chosen.length)}?`
  return (
    <Confirm
      isOpen
      close={close}
      title={title}
      verb={chosen.length === 0 ? 'Resend' : `Resend ${sayDeliveries(chosen.length)}`}
      kind="primary"
      isDisabled={chosen.length === 0}
      act={resend}
    >
      {read.isPending && <Loading lines={2} />}
      {read.error !== null && <ErrorState error={read.error} retry={() => void read.refetch()} />}
      <ul>
        {[...Map.groupBy(chosen, ({ webhookId }) => webhookId)].map(([id, ofOne]) => (
          <li key={id}>
            {hostOf(endpoints.get(id)?.url)}: {ofOne.length.toLocaleString('en')}
          </li>
        ))}
      </ul>
      {rest > 0 && <p>{sayDeliveries(rest)} to disabled endpoints are skipped.</p>}
      {read.data?.isMore && <p>These are the newest {atMost}. Resend the others next.</p>}
      {done > 0 && (
        <p role="status">
          {done.toLocaleString('en')} of {chosen.length.toLocaleString('en')}
        </p>
      )}
    </Confirm>
  )
}

function sayDeliveries(count: number): string {
  return count === 1 ? '1 delivery' : `${count.toLocaleString('en')} deliveries`
}

async function readFailed(filter: FailedFilter, signal: AbortSignal) {
  const failed = new Map<string, Delivery>()
  const query = { ...filter, status: 'failed', limit: 100 } as const
  for (let offset = 0; ; offset += query.limit) {
    const asked = api().deliveries.list({ ...query, offset } as never, { signal })
    const { data, pagination } = await answerOf(asked.page())
    for (const one of data) failed.set(one.id, one)
    if (!pagination.hasMore || failed.size >= atMost)
      return { failed: [...failed.values()].slice(0, atMost), isMore: pagination.hasMore }
  }
}
