/** The state of something: a sign and a word. What is well is quiet; colour is for what needs somebody. */
import type { ReactNode } from 'react'
import css from './status.module.css'

export type Tone = 'quiet' | 'good' | 'wait' | 'bad'

/** Told apart by shape as well: a ring for quiet, a dot for good, a half for what waits, a cross for what failed. */
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

/** A word that sorts: a type of event, a scope. */
export function Tag({ children, tone = 'quiet' }: { readonly children: ReactNode; readonly tone?: Tone }) {
  return (
    <span className={css.tag} data-tone={tone}>
      {children}
    </span>
  )
}
