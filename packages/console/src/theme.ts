/** Light, dark, or as the system has it. `?theme=` wins, for a page that is shown inside another. */
import { useSyncExternalStore } from 'react'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]
export const themeWords: Readonly<Record<Theme, string>> = { system: 'System', light: 'Light', dark: 'Dark' }

const place = 'deskwire.theme'
const listeners = new Set<() => void>()
let theme = themeOf(new URLSearchParams(window.location.search).get('theme')) ?? themeOf(stored()) ?? 'system'
apply()

function themeOf(name: string | null): Theme | null {
  return themes.find((known) => known === name) ?? null
}

function stored(): string | null {
  try {
    return localStorage.getItem(place)
  } catch {
    return null
  }
}

function apply(): void {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

export function setTheme(next: Theme): void {
  theme = next
  try {
    localStorage.setItem(place, next)
  } catch {
    // It lasts as long as the page.
  }
  apply()
  for (const listener of listeners) listener()
}

export function useTheme(): Theme {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => theme,
  )
}
