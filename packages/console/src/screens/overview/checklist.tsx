/** The first steps of an organization that has sent nothing yet. */
import { useQuery } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { answerOf, api } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { Panel } from '../../design/page.tsx'
import { Sign } from '../../design/status.tsx'
import { useCaller } from '../../session/caller.tsx'
import { endpointsQuery } from '../endpoints/endpoint-list.ts'
import css from './overview.module.css'

interface Step {
  readonly title: ReactNode
  readonly isDone: boolean
  readonly verb: string
  readonly to: LinkProps
}

/** Stays until the page is left, so that the first delivery is seen to arrive. */
export function Checklist() {
  const { may } = useCaller()
  const mayRead = may('webhooks:read') && may('customers:read')
  const [wasEmpty, setWasEmpty] = useState(false)
  const customers = useQuery({
    queryKey: keys.list('customers', 'first'),
    queryFn: ({ signal }) => answerOf(api().customers.list({ limit: 1 }, { signal }).page()),
    enabled: mayRead,
  }).data?.data
  const endpoints = useQuery({ ...endpointsQuery, enabled: mayRead, refetchInterval: 3_000 }).data?.data
  const deliveries = useQuery({
    queryKey: ['deliveries', 'first'],
    queryFn: ({ signal }) =>
      answerOf(api().deliveries.list({ status: 'succeeded', limit: 1 }, { signal }).page()),
    enabled: mayRead,
    refetchInterval: ({ state }) => (state.data?.data.length === 0 ? 2_000 : false),
  }).data?.data
  if (customers === undefined || endpoints === undefined || deliveries === undefined) return null
  const [first] = deliveries
  const isEmpty = customers.length === 0 || endpoints.length === 0
  if (isEmpty && first === undefined && !wasEmpty) setWasEmpty(true)
  if (!wasEmpty) return null
  const steps: readonly Step[] = [
    { title: 'Create an API key', isDone: true, verb: 'API keys', to: { to: '/api-keys' } },
    {
      title: 'Add the first customer',
      isDone: customers.length > 0,
      verb: 'Add customer',
      to: { to: '/customers' },
    },
    {
      title: (
        <>
          Add an endpoint, or run <code>npx deskwire listen</code>
        </>
      ),
      isDone: endpoints.length > 0,
      verb: 'Add endpoint',
      to: { to: '/endpoints' },
    },
    {
      title: first === undefined ? 'Receive the first delivery' : 'The first delivery has arrived',
      isDone: first !== undefined,
      verb: first === undefined ? 'Deliveries' : 'Open the delivery',
      to:
        first === undefined
          ? { to: '/deliveries' }
          : { to: '/deliveries/$id', params: { id: first.id }, search: { endpoint: first.webhookId } },
    },
  ]
  return (
    <Panel title="Get started">
      <ol className={css.matters} aria-live="polite">
        {steps.map(({ title, isDone, verb, to }) => (
          <li key={verb}>
            <span>
              <Sign tone={isDone ? 'good' : 'quiet'} /> {title}
              <span className="unseen">{isDone ? ', done' : ', to do'}</span>
            </span>
            <Link {...to}>{verb}</Link>
          </li>
        ))}
      </ol>
    </Panel>
  )
}
