/** The frame of every screen: navigation, account, palette. */
import { type Query, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, Navigate, Outlet, useLocation, useRouter } from '@tanstack/react-router'
import {
  type ComponentType,
  lazy,
  type RefObject,
  Suspense,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { answerOf, api } from '../api/client.ts'
import { isLost, onConnection, sayLost, useLostSince } from '../api/connection.ts'
import { Button } from '../design/button.tsx'
import { markNavigation, Page } from '../design/page.tsx'
import { Empty, Forbidden } from '../design/states.tsx'
import { locale, useDelay } from '../design/time.tsx'
import type { Screen } from '../router/screen.ts'
import { screens } from '../screens/index.ts'
import { useCaller } from '../session/caller.tsx'
import { signOut } from '../session/link.ts'
import { useSession } from '../session/store.ts'
import { useView } from '../session/view.ts'
import { setTheme, themes, themeWords, useTheme } from '../theme.ts'
import { Mark } from './mark.tsx'
import { Navigation } from './navigation.tsx'
import { useOfferedScreens } from './offered-screens.ts'
import paletteCss from './palette.module.css'
import type { PaletteProps, TypedAhead } from './palette.tsx'
import css from './shell.module.css'
import { useShortcuts } from './shortcuts.ts'

const ShortcutSheet = lazy(() => import('./shortcut-sheet.tsx'))

export function Shell() {
  const { isBare, isSectioned } = useView()
  const palette = usePalette(isBare)
  const [isNavOpen, setNavOpen] = useState(false)
  const { pathname } = useLocation()
  const [isSheetOpen, setSheetOpen] = useState(false)
  const showSheet = () => setSheetOpen(true)
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

  const offered = useOfferedScreens()
  const here = screens.find(({ path }) =>
    path === '/' ? pathname === '/' : `${pathname}/`.startsWith(`${path}/`),
  )
  return (
    <div className={css.shell} data-bare={isBare || undefined}>
      <a className={css.skip} href="#content">
        Skip to content
      </a>
      {isBare ? (
        offered.length > 1 && isSectioned && <Navigation offered={offered} className={css.row} />
      ) : (
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
            <button type="button" className={css.search} onClick={palette.toggle}>
              Search or jump to… <kbd>{isApple ? '⌘K' : 'Ctrl K'}</kbd>
            </button>
            <Navigation offered={offered} />
            <Account showSheet={showSheet} />
          </div>
        </header>
      )}
      <div className={css.main}>
        <Connection />
        <Content here={here} offered={offered} />
      </div>
      {palette.show(showSheet)}
      {isSheetOpen && (
        <Suspense>
          <ShortcutSheet close={() => setSheetOpen(false)} />
        </Suspense>
      )}
    </div>
  )
}

const emptyField: TypedAhead = { words: '', isEntered: false }
/** Milliseconds after which a page that was loaded has what it shows. */
const untilIdle = 3_000

let Loaded: ComponentType<PaletteProps> | undefined

/** Opened by its key, and loaded before that when the page is idle. What is typed while it is loaded is kept. */
function usePalette(isBare: boolean) {
  const [isOpen, setOpen] = useState(false)
  const [isShown, setShown] = useState(false)
  const [Palette, setPalette] = useState(() => Loaded)
  const typed = useRef(emptyField)
  const load = () =>
    import('./palette.tsx').then((loaded) => {
      Loaded = loaded.Palette
      setPalette(() => loaded.Palette)
    }, sayLost)
  const isIdle = useDelay(untilIdle)
  const isWanted = Palette === undefined && !isBare && (isOpen || isIdle)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another function each time
  useEffect(() => {
    if (isWanted) void load()
  }, [isWanted])
  const close = () => setOpen(false)
  function toggle(): void {
    typed.current = emptyField
    setShown(false)
    setOpen((open) => !open)
  }
  usePaletteKey(isBare ? null : toggle)
  return {
    toggle,
    show: (showSheet: () => void) =>
      isOpen && (
        <>
          {!isShown && <FieldAhead typed={typed} close={close} />}
          {Palette !== undefined && (
            <Palette close={close} showSheet={showSheet} typed={typed} onShown={() => setShown(true)} />
          )}
        </>
      ),
  }
}

function focusAtOnce(input: HTMLInputElement | null): void {
  input?.focus()
}

function FieldAhead({ typed, close }: { readonly typed: RefObject<TypedAhead>; readonly close: () => void }) {
  return (
    <div className={paletteCss.popup} aria-busy="true">
      <input
        ref={focusAtOnce}
        className={paletteCss.input}
        aria-label="Search or jump to"
        onInput={({ currentTarget }) => {
          typed.current = { words: currentTarget.value, isEntered: false }
        }}
        onKeyDown={({ key }) => {
          if (key === 'Enter') typed.current = { ...typed.current, isEntered: true }
          if (key === 'Escape') close()
        }}
      />
    </div>
  )
}

function Content({
  here,
  offered: [first],
}: {
  readonly here: Screen | undefined
  readonly offered: readonly Screen[]
}) {
  const { may } = useCaller()
  const { shows } = useView()
  if (here === undefined) return <Outlet />
  if (!shows(here.path)) {
    if (here.path === '/' && first !== undefined) return <Navigate to={first.path} replace />
    return (
      <Page title={here.title}>
        <Empty title="This page is not shown here" />
      </Page>
    )
  }
  if (here.scope === null || may(here.scope)) return <Outlet />
  return (
    <Page title={here.title}>
      <Forbidden scope={here.scope} />
    </Page>
  )
}

/** The account menu: the browser's own popover. */
function Account({ showSheet }: { readonly showSheet: () => void }) {
  const { organization, key } = useCaller()
  const theme = useTheme()
  const { linkId } = useSession()
  return (
    <>
      <button type="button" className={css.account} popoverTarget="account">
        <span>{organization.name}</span>
        {/* A key of the product, of which who was sent a link knows nothing. */}
        <small>{linkId === null ? key.name : 'Console link'}</small>
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

function usePaletteKey(toggle: (() => void) | null): void {
  useEffect(() => {
    function onKey(event: KeyboardEvent): void {
      if (
        toggle === null ||
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
