/** The caller, for all screens: the organization, the key, and its scopes. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { createContext, lazy, type ReactNode, Suspense, useContext, useEffect } from 'react'
import { type ApiKey, answerOf, api, type Organization } from '../api/client.ts'
import { followChanges, streamPosition } from '../api/live.ts'
import { ErrorState } from '../design/states.tsx'
import { kinds } from '../generated/lists.ts'
import { useSession } from './store.ts'

export interface Caller {
  readonly organization: Organization
  readonly key: ApiKey
  /** `may('webhooks:write')`. Write does not imply read. */
  readonly may: (scope: string) => boolean
}

/** Not loaded for users who are signed in. */
const SignIn = lazy(() => import('./sign-in.tsx'))
const SwitchSession = lazy(() => import('./switch-session.tsx'))

const CallerContext = createContext<Caller | null>(null)

/** Throws outside of a session. */
export function useCaller(): Caller {
  const caller = useContext(CallerContext)
  if (caller === null) throw new Error('nobody is signed in')
  return caller
}

/** Renders its children for signed-in users, and the sign-in for others. */
export function SignedIn({ children }: { readonly children: ReactNode }) {
  const { token, ended, asked } = useSession()
  const known = useQuery({
    queryKey: ['caller', token],
    queryFn: ({ signal }) => recognize(signal),
    enabled: token !== null,
    staleTime: 60_000,
    refetchInterval: 5 * 60_000,
  })
  const followed = useStream(token, known.data)
  if (token === null) {
    return (
      <Suspense>
        <SignIn reason={ended} />
      </Suspense>
    )
  }
  if (known.data !== undefined && followed.isReady) {
    return (
      <CallerContext value={known.data}>
        {asked === null ? (
          children
        ) : (
          <Suspense>
            <SwitchSession link={asked} />
          </Suspense>
        )}
      </CallerContext>
    )
  }
  const error = known.error ?? followed.error
  if (error !== null) {
    return (
      <main className="alone">
        <ErrorState
          error={error}
          retry={known.error === null ? followed.retry : () => void known.refetch()}
        />
      </main>
    )
  }
  return <Skeleton />
}

function Skeleton() {
  return (
    <main className="boot" aria-busy="true">
      <div />
      <div>
        {['title', 1, 2, 3, 4, 5].map((line) => (
          <i key={line} />
        ))}
      </div>
    </main>
  )
}

/** Follows the changes of all kinds that the key may read, from before the first of them is read. */
function useStream(
  token: string | null,
  caller: Caller | undefined,
): { readonly isReady: boolean; readonly error: Error | null; readonly retry: () => void } {
  const client = useQueryClient()
  const isReader = caller !== undefined && kinds.some(({ plural }) => caller.may(`${plural}:read`))
  const position = useQuery({
    queryKey: ['position', token],
    queryFn: ({ signal }) => streamPosition(signal),
    enabled: isReader,
    staleTime: Infinity,
    gcTime: 0,
  })
  const from = isReader ? position.data : undefined
  useEffect(() => (from === undefined ? undefined : followChanges(client, from)), [client, from])
  return {
    isReady: caller !== undefined && (!isReader || from !== undefined),
    error: position.error,
    retry: () => void position.refetch(),
  }
}

async function recognize(signal: AbortSignal): Promise<Caller> {
  const [organization, key] = await Promise.all([
    answerOf(api().organization.get({ signal })),
    answerOf(api().apiKeys.self({ signal })),
  ])
  const may = (scope: string) => key.scopes.includes('*') || key.scopes.includes(scope)
  return { organization, key, may }
}
