/** A state as a sign and a word. Healthy states are grey; colour is for states that need attention. */
import type { ReactNode } from 'react'
import css from './status.module.css'

export type Tone = 'quiet' | 'good' | 'wait' | 'bad'

/** Shapes differ as well: a ring for quiet, a dot for good, a half for pending, a cross for failed. */
export function Sign({ tone }: { readonly tone: Tone }) {
  return (
    <svg className={css.sign} data-tone={tone} viewBox="0 0 10 10" aria-hidden="true">
      {tone === 'quiet' && <circle cx="5" cy="5" r="3.4" className={css.line} />}
      {tone === 'good' && <circle cx="5" cy="5" r="3.6" />}
      {tone === 'wait' && (
        <>
          <circle cx="5" cy="5" r="3.6" className={css.line} />
          <path d="M5 1.4a3.6 3.6 0 0 1 0 7.2z" />
        </>
      )}
      {tone === 'bad' && <path d="M2 2l6 6M8 2l-6 6" className={css.line} />}
    </svg>
  )
}

export function Status({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return (
    <span className={css.status} data-tone={tone}>
      <Sign tone={tone} />
      {children}
    </span>
  )
}

/** An event type, a scope. */
export function Tag({ children, tone = 'quiet' }: { readonly children: ReactNode; readonly tone?: Tone }) {
  return (
    <span className={css.tag} data-tone={tone} dir="auto">
      {children}
    </span>
  )
}
