/** Messages in a corner, for screen readers too. Decisions are dialogs, errors of forms are in the form. */
import { useSyncExternalStore } from 'react'
import { ApiProblem } from '../api/problem.ts'
import css from './toasts.module.css'

interface Toast {
  readonly id: number
  readonly title: string
  readonly description: string | null
}

/** Milliseconds; errors take longer to read. */
const shownFor = { done: 5000, failed: 12_000 } as const
/** The oldest goes when there is another. */
const atOnce = 4

let toasts: readonly Toast[] = []
let count = 0
const listeners = new Set<() => void>()

function become(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

function add(title: string, description: string | null): void {
  const toast = { id: ++count, title, description }
  become([...toasts, toast].slice(-atOnce))
  setTimeout(() => dismiss(toast.id), description === null ? shownFor.done : shownFor.failed)
}

function dismiss(id: number): void {
  become(toasts.filter((toast) => toast.id !== id))
}

/** Success: `Ticket created` */
export function say(title: string): void {
  add(title, null)
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
      {shown.map(({ id, title, description }) => (
        <div key={id} className={css.toast} data-failed={description !== null || undefined}>
          <p className={css.title}>{title}</p>
          {description !== null && <p className={css.description}>{description}</p>}
          <button type="button" className={css.close} onClick={() => dismiss(id)}>
            Dismiss
          </button>
        </div>
      ))}
    </div>
  )
}
