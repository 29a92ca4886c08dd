/** The frame of every screen's route. */
import {
  createRootRoute,
  type ErrorComponentProps,
  retainSearchParams,
  useRouter,
} from '@tanstack/react-router'
import { useEffect } from 'react'
import { isLost, onConnection } from '../api/connection.ts'
import { Page } from '../design/page.tsx'
import { Empty, ErrorState } from '../design/states.tsx'
import { SignedIn } from '../session/caller.tsx'
import { Shell } from '../shell/shell.tsx'

/** See `useView`. */
interface ViewSearch {
  readonly chrome?: string
  readonly sections?: string
}

export const rootRoute = createRootRoute({
  // A page within another product stays one wherever its visitor goes.
  validateSearch: ({ chrome, sections }: Record<string, unknown>): ViewSearch => ({
    ...(typeof chrome === 'string' && { chrome }),
    ...(typeof sections === 'string' && { sections }),
  }),
  search: { middlewares: [retainSearchParams<ViewSearch>(['chrome', 'sections'])] },
  component: () => (
    <SignedIn>
      <Shell />
    </SignedIn>
  ),
  notFoundComponent: () => (
    <Page title="Page not found">
      <Empty title="There is no page at this address">
        <p>The address may belong to another release. Choose a page from the menu.</p>
      </Empty>
    </Page>
  ),
  errorComponent: Failed,
})

/** A screen that could not be loaded or rendered. */
export function Failed({ error }: ErrorComponentProps) {
  const router = useRouter()
  useEffect(() => onConnection(() => void (isLost() || router.invalidate())), [router])
  return (
    <Page title="Something went wrong">
      <ErrorState
        error={error instanceof Error ? error : new Error(String(error))}
        retry={() => void router.invalidate()}
      />
    </Page>
  )
}
