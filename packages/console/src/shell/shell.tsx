/** The frame of every screen: navigation, account, palette. */
import { type Query, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, Outlet, useLocation, useRouter } from '@tanstack/react-router'
import { lazy, type RefObject, Suspense, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { answerOf, api } from '../api/client.ts'
import { isLost, onConnection, useLostSince } from '../api/connection.ts'
import { Button } from '../design/button.tsx'
import { markNavigation, Page } from '../design/page.tsx'
import { Forbidden } from '../design/states.tsx'
import { locale } from '../design/time.tsx'
import { screens } from '../screens/index.ts'
import { useCaller } from '../session/caller.tsx'
import { signOut } from '../session/link.ts'
import { setTheme, type Theme, themes, useTheme } from '../theme.ts'
import { Mark } from './mark.tsx'
import { Navigation } from './navigation.tsx'
import palette from './palette.module.css'
import css from './shell.module.css'
import { useShortcuts } from './shortcuts.ts'

const Palette = lazy(() => import('./palette.tsx'))
const ShortcutSheet = lazy(() => import('./shortcut-sheet.tsx'))

export function Shell() {
  const { may } = useCaller()
  const [isPaletteOpen, setPaletteOpen] = useState(false)
  const [isNavOpen, setNavOpen] = useState(false)
  const { pathname } = useLocation()
  const typed = useRef('')
  function togglePalette(): void {
    typed.current = ''
    setPaletteOpen((open) => !open)
  }
  const [isSheetOpen, setSheetOpen] = useState(false)
  const showSheet = () => setSheetOpen(true)
  usePaletteKey(togglePalette)
  useShortcuts(showSheet)
  // biome-ignore lint/correctness/useExhaustiveDependencies: it closes because one has gone elsewhere
  useEffect(() => setNavOpen(false), [pathname])
  const router = useRouter()
  useEffect(
    () =>
      router.subscribe('onBeforeNavigate', ({ fromLocation, pathChanged }) => {
        if (fromLocation !== undefined && pathChanged) markNavigation()
      }),
    [router],
  )

  const here = screens.find(({ path }) => path !== '/' && `${pathname}/`.startsWith(`${path}/`))
  const offered = screens.filter(({ scope }) => scope === null || may(scope))
  return (
    <div className={css.shell}>
      <a className={css.skip} href="#content">
        Skip to content
      </a>
      <header className={css.side} data-open={isNavOpen || undefined}>
        <div className={css.top}>
          <Link to="/" className={css.brand} aria-label="Deskwire, overview">
            <Mark />
          </Link>
          <Button
            kind="quiet"
            className={css.toggle}
            aria-expanded={isNavOpen}
            aria-controls="screens"
            onClick={() => setNavOpen(!isNavOpen)}
          >
            Menu
          </Button>
        </div>
        <div className={css.fold} id="screens">
          <button type="button" className={css.search} onClick={togglePalette}>
            Search or jump to… <kbd>{isApple ? '⌘K' : 'Ctrl K'}</kbd>
          </button>
          <Navigation offered={offered} />
          <Account showSheet={showSheet} />
        </div>
      </header>
      <div className={css.main}>
        <Connection />
        {here === undefined || here.scope === null || may(here.scope) ? (
          <Outlet />
        ) : (
          <Page title={here.title}>
            <Forbidden scope={here.scope} />
          </Page>
        )}
      </div>
      {isPaletteOpen && (
        <Suspense fallback={<TypedAhead words={typed} />}>
          <Palette close={() => setPaletteOpen(false)} typed={typed} />
        </Suspense>
      )}
      {isSheetOpen && (
        <Suspense>
          <ShortcutSheet close={() => setSheetOpen(false)} />
        </Suspense>
      )}
    </div>
  )
}

/** Takes what is typed while the palette is loading. */
function TypedAhead({ words }: { readonly words: RefObject<string> }) {
  return (
    <div className={palette.popup} aria-busy="true">
      <input
        ref={(input) => input?.focus()}
        className={palette.input}
        aria-label="Search or jump to"
        onInput={({ currentTarget }) => {
          words.current = currentTarget.value
        }}
      />
    </div>
  )
}

const themeWords: Readonly<Record<Theme, string>> = { system: 'System', light: 'Light', dark: 'Dark' }

/** The account menu: the browser's own popover. */
function Account({ showSheet }: { readonly showSheet: () => void }) {
  const { organization, key } = useCaller()
  const theme = useTheme()
  return (
    <>
      <button type="button" className={css.account} popoverTarget="account">
        <span>{organization.name}</span>
        <small>{key.name}</small>
      </button>
      <div id="account" popover="auto" className={css.menu}>
        <fieldset>
          <legend>Theme</legend>
          {themes.map((each) => (
            <label key={each} className={css.menuItem}>
              <input type="radio" name="theme" checked={theme === each} onChange={() => setTheme(each)} />
              {themeWords[each]}
            </label>
          ))}
        </fieldset>
        <a className={css.menuItem} href="/docs">
          Documentation
        </a>
        <button
          type="button"
          className={css.menuItem}
          popoverTarget="account"
          popoverTargetAction="hide"
          onClick={showSheet}
        >
          Keyboard shortcuts
        </button>
        <button type="button" className={css.menuItem} onClick={signOut}>
          Sign out
        </button>
      </div>
    </>
  )
}

/** Shown while the device is offline or the service does not answer, as content may be out of date. */
function Connection() {
  const lostSince = useLostSince()
  const client = useQueryClient()
  useQuery({
    queryKey: ['is there'],
    queryFn: async ({ signal }) => await answerOf(api().organization.get({ signal })),
    enabled: lostSince !== null,
    refetchInterval: 3_000,
    retry: false,
    gcTime: 0,
  })
  useEffect(
    () =>
      onConnection(() => {
        if (!isLost()) void client.refetchQueries({ predicate: hasFailed, type: 'active' })
      }),
    [client],
  )
  const isOnline = useSyncExternalStore(
    (listener) => {
      window.addEventListener('online', listener)
      window.addEventListener('offline', listener)
      return () => {
        window.removeEventListener('online', listener)
        window.removeEventListener('offline', listener)
      }
    },
    () => navigator.onLine,
  )
  return (
    <div role="status">
      {!isOnline && <p className={css.offline}>You are offline. Showing the last loaded data.</p>}
      {isOnline && lostSince !== null && (
        <p className={css.offline}>Not connected. Showing data from {clock.format(lostSince)}.</p>
      )}
    </div>
  )
}

const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'short' })

function hasFailed({ queryKey, state }: Pick<Query, 'queryKey' | 'state'>): boolean {
  return queryKey[0] !== 'is there' && state.status === 'error'
}

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent)

function usePaletteKey(toggle: () => void): void {
  useEffect(() => {
    function onKey(event: KeyboardEvent): void {
      if (
        event.key.toLowerCase() !== 'k' ||
        !(event.metaKey || event.ctrlKey) ||
        event.shiftKey ||
        event.altKey
      )
        return
      event.preventDefault()
      toggle()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  })
}
