/** Any screen and any object, by typing (Ctrl K): what screens offer at once, and what they find for the words. */
import { Autocomplete } from '@base-ui/react/autocomplete'
import { Dialog } from '@base-ui/react/dialog'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'
import type { Command } from '../router/screen.ts'
import { screens } from '../screens/index.ts'
import { useCaller } from '../session/caller.tsx'
import css from './palette.module.css'

export default function Palette({ close }: { readonly close: () => void }) {
  const caller = useCaller()
  const navigate = useNavigate()
  const [words, setWords] = useState('')
  const wanted = useDeferredValue(words.trim())
  const go = (address: string) => void navigate({ to: address })

  const offered = screens.filter(({ scope }) => scope === null || caller.may(scope))
  const known = offered.flatMap(({ path, title, commands }): readonly Command[] => [
    { id: path, title, detail: 'Screen', run: () => go(path) },
    ...(commands?.(caller, go) ?? []),
  ])
  const found = useQuery({
    queryKey: ['palette', wanted],
    queryFn: async ({ signal }) => {
      const asked = offered.map(({ find }) => find?.(wanted, go, signal) ?? [])
      // One that fails leaves the others.
      const came = await Promise.allSettled(asked)
      return came.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
    },
    enabled: wanted.length >= 2,
    staleTime: 10_000,
  })
  const matching = known.filter(({ title }) => title.toLowerCase().includes(wanted.toLowerCase()))
  const items = [...matching, ...(found.data ?? [])]

  return (
    <Dialog.Root open onOpenChange={(open) => open || close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={css.backdrop} />
        <Dialog.Popup className={css.popup} aria-label="Find or do">
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
              className={css.input}
              placeholder="A screen, an id, a name, some words"
              aria-label="Find or do"
            />
            <Autocomplete.List className={css.list}>
              {(command: Command) => (
                <Autocomplete.Item
                  key={command.id}
                  value={command}
                  className={css.item}
                  onClick={() => {
                    close()
                    command.run()
                  }}
                >
                  <span>{command.title}</span>
                  {command.detail !== undefined && <small>{command.detail}</small>}
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
            <Autocomplete.Status className={css.status}>
              {items.length === 0 && (found.isFetching ? 'Looking…' : `Nothing is called “${wanted}”.`)}
            </Autocomplete.Status>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
