import './theme.ts'
import './design/base.css'
import { CSPProvider } from '@base-ui/react/csp-provider'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { type ReactNode, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { isPassing } from './api/problem.ts'
import { Toasts } from './design/toasts.tsx'
import { router } from './router/router.ts'
import { forgetDrafts } from './session/drafts.ts'
import { openLink, watchForLinks } from './session/link.ts'
import { joinTabs } from './session/store.ts'

const client = new QueryClient({
  defaultOptions: {
    // Temporary failures are tried twice more; refusals are shown at once.
    queries: {
      retry: (count, error) => count < 2 && isPassing(error),
      staleTime: 5000,
      refetchOnWindowFocus: true,
    },
    mutations: { retry: false },
  },
})

/** Toasts have links. */
function WithToasts({ children }: { readonly children: ReactNode }) {
  return (
    <>
      {children}
      <Toasts />
    </>
  )
}

watchForLinks()
await joinTabs(forgetDrafts)
await openLink()
createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} InnerWrap={WithToasts} />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
)
