/** The customer of a conversation: how to reach them, their local time, and their other conversations. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { answerOf, api } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { Facts, Panel } from '../../design/page.tsx'
import { locale, Time, useNow } from '../../design/time.tsx'
import { CustomerLink } from '../desk/names.tsx'
import { useCustomers } from '../desk/objects.ts'
import css from './conversation.module.css'
import { ConversationStatus } from './conversation-status.tsx'

/** `except`: the conversation that is shown. */
export function CustomerPanel({ id, except }: { readonly id: string | null; readonly except: string }) {
  const customer = useCustomers([id]).get(id ?? '')
  const others = useQuery({
    queryKey: keys.list('conversations', { customerId: id }),
    queryFn: async ({ signal }) =>
      (
        await answerOf(
          api()
            .conversations.list({ customerId: id ?? '', limit: 6 }, { signal })
            .page(),
        )
      ).data,
    enabled: id !== null,
  })
  const shown = others.data?.filter((one) => one.id !== except).slice(0, 5) ?? []
  return (
    <Panel title="Customer">
      <Facts
        of={[
          ['Name', <CustomerLink key="name" id={id} />],
          ...(customer?.email ? [['Email', customer.email] as const] : []),
          ...(customer?.phone ? [['Phone', customer.phone] as const] : []),
          ...(customer?.company ? [['Company', customer.company] as const] : []),
          ...(customer?.timezone
            ? [['Local time', <LocalTime key="time" zone={customer.timezone} />] as const]
            : []),
        ]}
      />
      {shown.length > 0 && (
        <>
          <h3>Other conversations</h3>
          <ul className={css.tickets}>
            {shown.map((one) => (
              <li key={one.id}>
                <Link to="/conversations/$id" params={{ id: one.id }}>
                  <bdi>{one.subject || 'No subject'}</bdi>
                </Link>
                <span>
                  <ConversationStatus conversation={one} /> <Time at={one.lastMessageAt ?? one.createdAt} />
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </Panel>
  )
}

/** `14:02, Europe/Berlin`. */
function LocalTime({ zone }: { readonly zone: string }) {
  const now = useNow()
  return `${clockIn(zone, now)}, ${zone.replaceAll('_', ' ')}`
}

/** A browser may not know a zone that the service knows. */
function clockIn(timeZone: string, now: number): string {
  try {
    return new Intl.DateTimeFormat(locale, {
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
      timeZone,
    }).format(now)
  } catch {
    return ''
  }
}
