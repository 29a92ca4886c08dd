/** The screens that the key may see, each with an icon, and with a count where something needs somebody. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useDelay } from '../design/time.tsx'
import type { Screen } from '../router/screen.ts'
import { endpointsQuery } from '../screens/endpoints/endpoint-list.ts'
import { healthOf } from '../screens/endpoints/endpoint-status.tsx'
import { sayCount, useCounts } from '../screens/inbox/entries.ts'
import { useCaller } from '../session/caller.tsx'
import { useSession } from '../session/store.ts'
import css from './shell.module.css'

const groups = ['Delivery', 'Desk', 'Access'] as const

/** By path: lines on a grid of 24. */
const icons: Readonly<Record<string, string>> = {
  '/': 'M4 20v-8M10 20V5M16 20v-6M21 20H3',
  '/endpoints': 'M4 12h6m4 0h6M10 8v8a4 4 0 0 0 0-8ZM14 8v8a4 4 0 0 1 0-8Z',
  '/deliveries': 'M21 3 3 10l7 3 3 7ZM10 13l4-4',
  '/signature-tester': 'M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6ZM8.5 12l2.5 2.5 4.5-5',
  '/sync-explorer': 'M4 12a8 8 0 0 1 14-5l2 2M20 4v5h-5M20 12a8 8 0 0 1-14 5l-2-2M4 20v-5h5',
  '/inbox': 'M3 13h5l2 3h4l2-3h5M5 5h14l2 8v6H3v-6Z',
  '/conversations': 'M4 5h16v11H10l-5 4v-4H4Z',
  '/customers':
    'M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM2 21c0-4 3-6 7-6s7 2 7 6M17 4a4 4 0 0 1 0 7M19 15c2 1 3 3 3 6',
  '/tickets': 'M3 7h18v3a2 2 0 0 0 0 4v3H3v-3a2 2 0 0 0 0-4ZM14 7v10',
  '/bookings': 'M4 6h16v15H4ZM4 11h16M8 3v5M16 3v5',
  '/teammates': 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM5 21c0-4 3-6 7-6s7 2 7 6',
  '/api-keys': 'M8 19a5 5 0 1 0 0-10 5 5 0 0 0 0 10ZM12 11l8-8M17 6l3 3',
}

export function Navigation({
  offered,
  className = css.nav,
}: {
  readonly offered: readonly Screen[]
  readonly className?: string | undefined
}) {
  const counts = useNavigationCounts()
  return (
    <nav aria-label="Main" className={className}>
      {groups.map((group) => {
        const inGroup = offered.filter((screen) => screen.group === group)
        if (inGroup.length === 0) return null
        return (
          <section key={group} aria-label={group}>
            <h2>{group}</h2>
            <ul>
              {inGroup.map(({ path, title }) => {
                const { count, of } = counts[path] ?? { count: 0, of: '' }
                return (
                  <li key={path}>
                    <Link to={path as '/'} activeOptions={{ exact: path === '/', includeSearch: false }}>
                      <svg viewBox="0 0 24 24" aria-hidden="true">
                        <path d={icons[path]} />
                      </svg>
                      {title}
                      {count > 0 && (
                        <span className={css.count} title={`${sayCount(count)} ${of}`}>
                          {sayCount(count)} <span className="unseen">{of}</span>
                        </span>
                      )}
                    </Link>
                  </li>
                )
              })}
            </ul>
          </section>
        )
      })}
    </nav>
  )
}

interface Count {
  readonly count: number
  readonly of: string
}

/** Read after the screen itself; endpoints, which few look after, later than who waits. */
function useNavigationCounts(): Readonly<Record<string, Count | undefined>> {
  const { may } = useCaller()
  const { teammateId } = useSession()
  const isLater = useDelay(1_000)
  const isMuchLater = useDelay(10_000)
  const counts = useCounts(teammateId, isLater && may('conversations:read'))
  const endpoints = useQuery({
    ...endpointsQuery,
    enabled: isMuchLater && may('webhooks:read'),
    refetchInterval: 60_000,
  }).data?.data
  const failing = endpoints?.filter((one) => ['failing', 'missed'].includes(healthOf(one))).length ?? 0
  return {
    '/inbox': { count: counts?.waiting ?? 0, of: 'waiting' },
    '/endpoints': { count: failing, of: 'failing' },
  }
}
