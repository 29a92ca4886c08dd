/** The frame of every screen's route. */
import { createRootRoute, type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { isLost, onConnection } from '../api/connection.ts'
import { Page } from '../design/page.tsx'
import { Empty, ErrorState } from '../design/states.tsx'
import { SignedIn } from '../session/caller.tsx'
import { Shell } from '../shell/shell.tsx'

export const rootRoute = createRootRoute({
  component: () => (
    <SignedIn>
      <Shell />
    </SignedIn>
  ),
  notFoundComponent: () => (
    <Page title="Not here">
      <Empty title="There is no such screen">
        <p>The address may be of another release. The sidebar has what there is.</p>
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
    <Page title="This did not work">
      <ErrorState
        error={error instanceof Error ? error : new Error(String(error))}
        retry={() => void router.invalidate()}
      />
    </Page>
  )
}
