/** Search or jump to any screen or object (Ctrl K): the screens' commands, and what they find. */
import { Autocomplete } from '@base-ui/react/autocomplete'
import { Dialog } from '@base-ui/react/dialog'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type RefObject, useDeferredValue, useRef, useState } from 'react'
import type { Command, Go, Screen } from '../router/screen.ts'
import { screens } from '../screens/index.ts'
import { useCaller } from '../session/caller.tsx'
import { findEndpoints, findMessages } from './find-others.ts'
import css from './palette.module.css'
import { recentOf, remember } from './recent.ts'
import { ranked, wantedOf } from './wanted.ts'

interface PaletteProps {
  readonly close: () => void
  /** What was typed before the palette was loaded. */
  readonly typed: RefObject<string>
}

export default function Palette({ close, typed: typedBefore }: PaletteProps) {
  const caller = useCaller()
  const navigate = useNavigate()
  const [words, setWords] = useState(() => typedBefore.current)
  const running = useRef<Command | null>(null)
  const typed = useDeferredValue(words.trim())

  const go: Go = (address) => {
    const command = running.current
    if (command !== null) {
      const { id, title, detail } = command
      remember(caller.key, { id, title, detail, address })
    }
    const [to = '/', search = ''] = address.split('?')
    void navigate({ to, search: Object.fromEntries(new URLSearchParams(search)) })
  }

  const offered = screens.filter(({ scope }) => scope === null || caller.may(scope))
  const wanted = wantedOf(typed, offered)
  const known = wanted.among.flatMap(({ path, title, commands }): readonly Command[] => [
    { id: path, title, detail: 'Screen', run: () => go(path) },
    ...(commands?.(caller, go) ?? []),
  ])
  const found = useQuery({
    queryKey: ['palette', typed],
    queryFn: async ({ signal }) => {
      const asked = findersOf(wanted.among).map((find) => find(wanted.words, go, signal))
      // A failed search leaves the others.
      const came = await Promise.allSettled(asked)
      return came.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
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

  const recent =
    typed === ''
      ? recentOf(caller.key).map(
          ({ id, title, detail, address }): Command => ({ id, title, detail, run: () => go(address) }),
        )
      : []
  const matching = wanted.isNarrow
    ? ranked(known, wanted.words).filter(({ detail }) => detail !== 'Screen' || wanted.words === '')
    : ranked(known, wanted.words)
  // Of results with one id, the first is kept.
  const all = [...recent, ...matching, ...(found.data ?? [])]
  const items = all.filter(({ id }, at) => all.findIndex((one) => one.id === id) === at)

  return (
    <Dialog.Root open onOpenChange={(open) => open || close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={css.backdrop} />
        <Dialog.Popup
          className={css.popup}
          aria-label="Search or jump to"
          // After a jump what was focused is of another place.
          finalFocus={() => (running.current === null ? true : document.getElementById('content'))}
        >
          <Autocomplete.Root
            open
            inline
            items={items}
            filter={null}
            autoHighlight="always"
            keepHighlight
            value={words}
            onValueChange={(value, { reason }) => reason !== 'item-press' && setWords(value)}
            itemToStringValue={({ title }) => title}
          >
            <Autocomplete.Input
              ref={focusAtOnce}
              dir="auto"
              className={css.input}
              placeholder="Search or jump to…"
              aria-label="Search or jump to"
            />
            <Autocomplete.List className={css.list}>
              {(command: Command) => (
                <Autocomplete.Item
                  key={command.id}
                  value={command}
                  className={css.item}
                  onClick={() => {
                    close()
                    running.current = command
                    command.run()
                  }}
                >
                  <span dir="auto">{command.title}</span>
                  {command.detail !== undefined && <small>{command.detail}</small>}
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

/** Before the dialog moves the focus by itself, typed characters would be lost. */
function focusAtOnce(input: HTMLInputElement | null): void {
  input?.focus()
}
