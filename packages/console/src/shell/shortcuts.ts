/**
 * Single keys. Each presses what carries it as `aria-keyshortcuts`, or puts the focus there: a screen says what its
 * keys do by saying it to screen readers. A field that has the focus gets its keys itself.
 */
import { useEffect, useSyncExternalStore } from 'react'

export const shortcuts = [
  ['j', 'Next row'],
  ['k', 'Previous row'],
  ['Enter', 'Open the row'],
  ['/', 'Search the list'],
  ['c', 'Create'],
  ['r', 'Reply'],
  ['n', 'Add an internal note'],
  ['a', 'Assign'],
  ['e', 'Resolve'],
  ['?', 'Show keyboard shortcuts'],
] as const

const place = 'deskwire.shortcuts'
const listeners = new Set<() => void>()

function areOn(): boolean {
  try {
    return localStorage.getItem(place) !== 'off'
  } catch {
    return true
  }
}

/** Speech input types letters that nobody meant as keys, so they can be turned off (WCAG 2.1.4). */
export function turnShortcuts(on: boolean): void {
  try {
    if (on) localStorage.removeItem(place)
    else localStorage.setItem(place, 'off')
  } catch {
    // A browser may forbid storage.
  }
  for (const listener of listeners) listener()
}

export function useShortcutsAreOn(): boolean {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, areOn)
}

/** The list of a select stays in the page when it is closed. */
export const openDialog = '[data-open]:is([role=dialog], [role=alertdialog])'

const ownsItsKeys =
  'input:not([type=checkbox], [type=radio]), textarea, [contenteditable], [role=listbox], [role=menu], [role=dialog], [role=alertdialog], [aria-expanded=true]'

export function useShortcuts(showSheet: () => void): void {
  useEffect(() => {
    function onKey(event: KeyboardEvent): void {
      const { key, target } = event
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing)
        return
      if (!areOn() || (target instanceof Element && target.closest(ownsItsKeys) !== null)) return
      if (document.querySelector(openDialog) !== null) return
      if (key === '?') showSheet()
      else if (key === 'j' || key === 'k') stepTo(key === 'j' ? 'ArrowDown' : 'ArrowUp')
      else if (!shortcuts.some(([known]) => known === key && key.length === 1) || !press(key)) return
      event.preventDefault()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  })
}

/** Lists move by arrows between their rows; from elsewhere it is their first. */
function stepTo(key: 'ArrowDown' | 'ArrowUp'): void {
  const row = document.activeElement?.closest('a[data-row]')
  if (row) row.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
  else document.querySelector<HTMLElement>('a[aria-current=true][data-row], a[data-row]')?.focus()
}

function shownFor(key: string): HTMLElement | undefined {
  const of = [...document.querySelectorAll<HTMLElement>(`[aria-keyshortcuts="${key}"]`)]
  return of.find((one) => one.getClientRects().length > 0)
}

/** Whether there was something to press. */
function press(key: string): boolean {
  const shown = shownFor(key)
  shown?.focus()
  if (shown !== undefined && !shown.matches('input, textarea')) shown.click()
  return shown !== undefined
}

/** What the keys would press now, by its name. */
export function shownKeys(): readonly { readonly title: string; readonly run: () => void }[] {
  return shortcuts.flatMap(([key, words]) => {
    const shown = key.length === 1 && key !== '?' ? shownFor(key) : undefined
    if (shown === undefined) return []
    return [{ title: key === 'c' ? (shown.textContent ?? words) : words, run: () => void press(key) }]
  })
}
