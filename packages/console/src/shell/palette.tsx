/** Search or jump to any screen or object (Ctrl K): actions of the page and of screens, and what screens find. */
import { Autocomplete } from '@base-ui/react/autocomplete'
import { Dialog } from '@base-ui/react/dialog'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, type RefObject, useDeferredValue, useEffect, useRef, useState } from 'react'
import { offeredActions } from '../router/offered.ts'
import type { Command, Go, Screen } from '../router/screen.ts'
import { nameOf, sayParts, useCustomers } from '../screens/desk/objects.ts'
import { useCaller } from '../session/caller.tsx'
import { signOut } from '../session/link.ts'
import { setTheme, themes, themeWords } from '../theme.ts'
import { findEndpoints, findMessages } from './find-others.ts'
import { useOfferedScreens } from './offered-screens.ts'
import css from './palette.module.css'
import { recentOf, remember } from './recent.ts'
import { openDialog, shownKeys } from './shortcuts.ts'
import { ranked, wantedOf } from './wanted.ts'

export interface PaletteProps {
  readonly close: () => void
  readonly showSheet: () => void
  /** What was typed before the palette was shown. */
  readonly typed: RefObject<TypedAhead>
  /** From now on its own field has the keys. */
  readonly onShown: () => void
}

export interface TypedAhead {
  readonly words: string
  readonly isEntered: boolean
}

export function Palette({ close, showSheet, typed: typedAhead, onShown }: PaletteProps) {
  const caller = useCaller()
  const navigate = useNavigate()
  const [words, setWords] = useState('')
  const running = useRef<Command | null>(null)
  const hasJumped = useRef(false)
  const hasMoved = useRef(false)
  const typed = useDeferredValue(words.trim())
  const [isEntered, setEntered] = useState(false)

  const go: Go = (address) => {
    const command = running.current
    if (command !== null) remember(caller.key, { ...command, address })
    hasJumped.current = true
    const [to = '/', search = ''] = address.split('?')
    void navigate({ to, search: Object.fromEntries(new URLSearchParams(search)) })
  }
  /** Once the focus is back where it was: an action may move it, or open a dialog. */
  const action = (id: string, title: string, run: () => void, detail = 'Action'): Command => ({
    id,
    title,
    detail,
    run: () => void setTimeout(run),
  })

  const wanted = wantedOf(typed, useOfferedScreens())
  const found = useQuery({
    queryKey: ['palette', typed],
    queryFn: async ({ signal }) => {
      const searches = findersOf(wanted.among).map((find) => find(wanted.words, go, signal))
      // A failed search leaves the others.
      const results = await Promise.allSettled(searches)
      return results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
    },
    // One figure is the number of a ticket.
    enabled: wanted.words.length >= 2 || /^\d$/.test(wanted.words),
    staleTime: 10_000,
    // A result's action belongs to this palette, and not to a later one.
    gcTime: 0,
  })

  function findersOf(among: readonly Screen[]): readonly NonNullable<Screen['find']>[] {
    const has = (path: string) => among.some((screen) => screen.path === path)
    return [
      ...among.flatMap(({ find }) => find ?? []),
      ...(has('/endpoints') ? [findEndpoints] : []),
      ...(has('/conversations') && caller.may('messages:read') ? [findMessages] : []),
    ]
  }

  const ofScreens = wanted.among.flatMap(({ path, title, commands }): readonly Command[] => [
    { id: path, title, detail: 'Screen', run: () => go(path) },
    ...(commands?.(caller, go) ?? []),
  ])
  const ofPage = (
    document.querySelector(`${openDialog}:not([data-palette])`) ? [] : [...shownKeys(), ...offeredActions()]
  )
    .filter(({ title }) => !ofScreens.some((command) => command.title === title))
    .map(({ title, run }) => action(`here ${title}`, title, run, 'This page'))
  const ofConsole = [
    ...themes.map((theme) => action(`theme ${theme}`, `Theme: ${themeWords[theme]}`, () => setTheme(theme))),
    action('shortcuts', 'Keyboard shortcuts', showSheet),
    action('docs', 'Documentation', () => window.location.assign('/docs')),
    action('sign out', 'Sign out', signOut),
  ]
  const recent =
    typed === ''
      ? recentOf(caller.key).map(({ address, ...shown }): Command => ({ ...shown, run: () => go(address) }))
      : []
  const matching = wanted.isNarrow
    ? ranked(ofScreens, wanted.words).filter(({ detail }) => detail !== 'Screen' || wanted.words === '')
    : ranked([...ofPage, ...ofScreens, ...ofConsole], wanted.words)
  const results = found.data ?? []
  // Of results with one id, the first is kept.
  const inOrder = [...results.filter(({ isNamed }) => isNamed), ...recent, ...matching]
  // A title with the words comes before what only mentions them.
  const all = [...inOrder, ...ranked(results, wanted.words), ...results]
  const items = all.filter(({ id }, at) => all.findIndex((one) => one.id === id) === at)
  const customers = useCustomers(items.map(({ customerId = null }) => customerId))
  function aboutOf({ about, customerId }: Command): string {
    const customer = customers.get(customerId ?? '')
    return sayParts(customer && nameOf(customer), about)
  }

  function run(command: Command): void {
    close()
    running.current = command
    command.run()
  }

  // What the words name is first, so it is waited for, as everything is where nothing else is known.
  const isFirstKnown =
    typed === words.trim() &&
    (!found.isFetching || (matching.length > 0 && !/^#?\d+$|@|^[0-9a-f]{8}-/i.test(wanted.words)))
  const [first] = items
  // biome-ignore lint/correctness/useExhaustiveDependencies: another function each time
  useEffect(() => {
    if (!isEntered || !isFirstKnown) return
    setEntered(false)
    if (first !== undefined) run(first)
  }, [isEntered, isFirstKnown, first])

  /** Enter means the first result of what was typed, and not of what was typed before. */
  function onKeyDown(event: KeyboardEvent): void {
    if (event.key.startsWith('Arrow')) hasMoved.current = true
    if (event.key !== 'Enter' || isFirstKnown || hasMoved.current || event.nativeEvent.isComposing) return
    event.preventDefault()
    event.stopPropagation()
    setEntered(true)
  }

  function takeOver(input: HTMLInputElement | null): void {
    if (input === null) return
    // Before the dialog moves the focus by itself, typed characters would be lost.
    input.focus()
    setWords(typedAhead.current.words)
    setEntered(typedAhead.current.isEntered)
    onShown()
  }
  const hold = useRef(takeOver)

  return (
    <Dialog.Root open onOpenChange={(open) => open || close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={css.backdrop} />
        <Dialog.Popup
          className={css.popup}
          data-palette
          aria-label="Search or jump to"
          // After a jump what was focused is of another place.
          finalFocus={() => (hasJumped.current ? document.getElementById('content') : true)}
        >
          <Autocomplete.Root
            open
            inline
            items={items}
            filter={null}
            autoHighlight="always"
            keepHighlight
            value={words}
            onValueChange={(value, { reason }) => {
              if (reason === 'item-press') return
              setWords(value)
              setEntered(false)
              hasMoved.current = false
            }}
            itemToStringValue={({ title }) => title}
          >
            <Autocomplete.Input
              ref={hold.current}
              dir="auto"
              className={css.input}
              placeholder="Search or jump to…"
              aria-label="Search or jump to"
              onKeyDownCapture={onKeyDown}
            />
            <Autocomplete.List className={css.list}>
              {(command: Command) => (
                <Autocomplete.Item
                  key={command.id}
                  value={command}
                  className={css.item}
                  onClick={() => run(command)}
                >
                  <span dir="auto">{command.title}</span>
                  {command.detail !== undefined && <small>{command.detail}</small>}
                  {aboutOf(command) !== '' && (
                    <small className={css.about} dir="auto">
                      {aboutOf(command)}
                    </small>
                  )}
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
            <Autocomplete.Status className={css.status}>
              {items.length === 0 && (found.isFetching ? 'Searching…' : `No results for “${typed}”.`)}
            </Autocomplete.Status>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
