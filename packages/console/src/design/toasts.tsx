/** Messages at the top, for screen readers too. Decisions are dialogs, errors of forms are in the form. */
import { type ReactNode, useSyncExternalStore } from 'react'
import { ApiProblem } from '../api/problem.ts'
import css from './toasts.module.css'

interface Toast {
  readonly id: number
  readonly title: string
  readonly description: string | null
  readonly link: ReactNode
}

/** Milliseconds; errors take longer to read, and links to press. */
const shownFor = { done: 5000, longer: 12_000 } as const
/** The oldest goes when there is another. */
const atOnce = 4

let toasts: readonly Toast[] = []
let count = 0
const listeners = new Set<() => void>()

function become(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

function add(title: string, description: string | null, link: ReactNode = null): void {
  const toast = { id: ++count, title, description, link }
  become([...toasts, toast].slice(-atOnce))
  const isShort = description === null && link === null
  setTimeout(() => dismiss(toast.id), isShort ? shownFor.done : shownFor.longer)
}

function dismiss(id: number): void {
  become(toasts.filter((toast) => toast.id !== id))
}

/** Success: `Ticket created`, with a link to what came of it. */
export function say(title: string, link?: ReactNode): void {
  add(title, null, link)
}

/** A failure, with the service's detail. */
export function sayProblem(title: string, error: unknown): void {
  const reference =
    error instanceof ApiProblem && error.requestId !== null ? ` Request ${error.requestId}.` : ''
  add(title, `${error instanceof Error ? error.message : 'Unknown error.'}${reference}`)
}

/** Rendered before the first message, so that screen readers announce it. */
export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => toasts,
  )
  return (
    <div className={css.corner} role="status">
      {shown.map(({ id, title, description, link }) => (
        <div key={id} className={css.toast} data-failed={description !== null || undefined}>
          <p className={css.title}>{title}</p>
          {description !== null && <p className={css.description}>{description}</p>}
          {link !== null && <p className={css.description}>{link}</p>}
          <button type="button" className={css.close} onClick={() => dismiss(id)}>
            Dismiss
          </button>
        </div>
      ))}
    </div>
  )
}
