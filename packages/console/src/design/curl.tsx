/** Shows what a screen asks, or would ask, as a command: nothing here is done that the API does not do. */
import { lazy, Suspense, useRef, useState } from 'react'
import type { ShownCall } from '../api/client.ts'
import { Button } from './button.tsx'

const CurlPopover = lazy(() => import('./curl-popover.tsx'))

export function AsCurl({ calls }: { readonly calls: readonly ShownCall[] }) {
  const anchor = useRef<HTMLButtonElement>(null)
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button
        ref={anchor}
        kind="quiet"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        As curl
      </Button>
      {isOpen && (
        <Suspense>
          <CurlPopover calls={calls} anchor={anchor.current} close={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
