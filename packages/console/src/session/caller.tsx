/** The caller, for all screens: the organization, the key, and its scopes. */
import { readJson } from '@deskwire/sdk/json'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { createContext, lazy, type ReactNode, Suspense, useContext, useEffect, useState } from 'react'
import { type ApiKey, answerOf, api, type Organization } from '../api/client.ts'
import { followChanges } from '../api/live.ts'
import { Empty, ErrorState } from '../design/states.tsx'
import { kinds } from '../generated/lists.ts'
import { keepOrganization, sessionOrganization, useSession } from './store.ts'
import { useView } from './view.ts'

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
  const view = useView()
  const client = useQueryClient()
  const known = useQuery({
    queryKey: ['caller', token],
    queryFn: ({ signal }) => recognize(signal, client.getQueryData(['caller', token]) === undefined),
    enabled: token !== null,
    staleTime: 60_000,
    refetchInterval: 5 * 60_000,
  })
  const followed = useStream(token, known.data)
  if (token === null) {
    return view.isBare ? (
      <main className="alone">
        <title>Session ended · Deskwire</title>
        <Empty title="Session ended">
          <p>{ended ?? 'This page needs a new console link.'}</p>
        </Empty>
      </main>
    ) : (
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

const notYet = { token: null as string | null, isReady: false, error: null as Error | null }

/** Follows the changes of all kinds that the key may read, from before the first of them is read. */
function useStream(token: string | null, caller: Caller | undefined) {
  const client = useQueryClient()
  const isReader = caller !== undefined && kinds.some(({ plural }) => caller.may(`${plural}:read`))
  const [followed, setFollowed] = useState(notYet)
  const [tries, setTries] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each try begins again
  useEffect(() => {
    if (!isReader || token === null) return
    return followChanges(client, {
      onReady: () => setFollowed({ token, isReady: true, error: null }),
      onError: (error) =>
        setFollowed((held) => ({ token, isReady: held.isReady && held.token === token, error })),
    })
  }, [client, token, isReader, tries])
  const own = followed.token === token ? followed : notYet
  return {
    isReady: caller !== undefined && (!isReader || own.isReady),
    error: own.error,
    retry: () => setTries(tries + 1),
  }
}

/** The organization of a page that has just been loaded is the one that the tab read last. */
async function recognize(signal: AbortSignal, isFirst: boolean): Promise<Caller> {
  const held = isFirst ? sessionOrganization() : null
  const [organization, key] = await Promise.all([
    held === null ? answerOf(api().organization.get({ signal })) : readJson<Organization>(held),
    answerOf(api().apiKeys.self({ signal })),
  ])
  keepOrganization(JSON.stringify(organization))
  const may = (scope: string) => key.scopes.includes('*') || key.scopes.includes(scope)
  return { organization, key, may }
}
