/** Rarer actions, and the API calls of the screen, behind one button. */
import { Menu } from '@base-ui/react/menu'
import { lazy, Suspense, useRef, useState } from 'react'
import type { ShownCall } from '../api/client.ts'
import { type Action, useOffered } from '../router/offered.ts'
import { useView } from '../session/view.ts'
import { Button } from './button.tsx'
import css from './menu.module.css'

const CurlPopover = lazy(() => import('./curl-popover.tsx'))

export function ActionMenu({
  actions = [],
  calls: allCalls = [],
}: {
  readonly actions?: readonly Action[]
  /** The console does nothing that the API cannot. */
  readonly calls?: readonly ShownCall[]
}) {
  const trigger = useRef<HTMLButtonElement>(null)
  const [isShowingCalls, setShowingCalls] = useState(false)
  useOffered(actions)
  // Visitors of a page of another product have no key.
  const calls = useView().isBare ? [] : allCalls
  if (actions.length + calls.length === 0) return null
  return (
    <>
      <Menu.Root modal={false}>
        <Menu.Trigger ref={trigger} render={<Button aria-label="More actions" className={css.trigger} />}>
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d="M5 12h.01M12 12h.01M19 12h.01" />
          </svg>
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner sideOffset={6} align="end">
            <Menu.Popup className={css.menu}>
              {actions.map(({ title, run, isDangerous }) => (
                <Menu.Item key={title} className={css.item} data-dangerous={isDangerous} onClick={run}>
                  {title}
                </Menu.Item>
              ))}
              {calls.length > 0 && (
                <Menu.Item className={css.item} onClick={() => setShowingCalls(true)}>
                  Equivalent API calls
                </Menu.Item>
              )}
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      {isShowingCalls && (
        <Suspense>
          <CurlPopover calls={calls} anchor={trigger.current} close={() => setShowingCalls(false)} />
        </Suspense>
      )}
    </>
  )
}
