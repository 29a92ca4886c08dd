/** What a screen shows instead of its content: loading, empty, no match, not allowed, failed. */
import type { ReactNode } from 'react'
import { ApiProblem, Unreachable } from '../api/problem.ts'
import { Button } from './button.tsx'
import { CopyText } from './copy.tsx'
import css from './states.module.css'
import { useDelay } from './time.tsx'

/** Placeholder lines. Nothing in the first 200 ms, as most responses come sooner. */
export function Loading({ lines = 6 }: { readonly lines?: number }) {
  const isLate = useDelay(200)
  return (
    <div className={css.loading} aria-busy="true">
      <span className="unseen" role="status">
        {isLate ? 'Loading' : ''}
      </span>
      {isLate &&
        Array.from({ length: lines }, (_, n) => n).map((n) => (
          <div key={n} className={css.line} aria-hidden="true" />
        ))}
    </div>
  )
}

interface StateProps {
  readonly title: string
  readonly children?: ReactNode
  readonly actions?: ReactNode
  readonly tone?: 'quiet' | 'wait' | 'bad'
  readonly role?: 'status' | 'alert'
}

function State({ title, children, actions, tone = 'quiet', role }: StateProps) {
  return (
    <div className={css.state} data-tone={tone} role={role}>
      <h2>{title}</h2>
      {children}
      {actions !== undefined && <div className={css.actions}>{actions}</div>}
    </div>
  )
}

/** No rows at all: explains what would be here, and how it comes about. */
export function Empty({ title, children, actions }: Omit<StateProps, 'tone' | 'role'>) {
  return (
    <State title={title} actions={actions}>
      {children}
    </State>
  )
}

/** The filters match nothing. */
export function NoMatch({
  title = 'No results',
  actions,
  clear,
  children,
}: Partial<StateProps> & { readonly clear: () => void }) {
  return (
    <State
      title={title}
      role="status"
      actions={
        <>
          {actions}
          <Button onClick={clear}>Clear filters</Button>
        </>
      }
    >
      {children ?? <p>Nothing matches these filters.</p>}
    </State>
  )
}

/** It was shown, and is removed by now. `noun`: `ticket`. */
export function Removed({ noun }: { readonly noun: string }) {
  return (
    <State title={`This ${noun} was deleted`} role="status">
      <p>It was deleted while this page was open, and nothing about it is kept here.</p>
    </State>
  )
}

/** `scope` is what the key lacks. */
export function Forbidden({ scope }: { readonly scope: string }) {
  return (
    <State title="No access">
      <p>
        Your API key needs the scope <code>{scope}</code>. Ask someone who manages API keys to add it.
      </p>
    </State>
  )
}

/** Each error with what the user can do about it. */
export function ErrorState({ error, retry }: { readonly error: Error; readonly retry?: () => void }) {
  const again = retry && <Button onClick={retry}>Try again</Button>
  if (error instanceof Unreachable) {
    return (
      <State title="Cannot reach the service" tone="wait" role="alert" actions={again}>
        <p>
          {navigator.onLine ? 'It may be starting, or a proxy may block the request.' : 'You are offline.'}{' '}
          What you entered is kept.
        </p>
      </State>
    )
  }
  if (error instanceof ApiProblem) {
    const { title, message, code, errors, requestId, retryAfter } = error
    return (
      <State
        title={title}
        tone={error.status >= 500 || error.status === 429 ? 'wait' : 'bad'}
        role="alert"
        actions={again}
      >
        <p>{message}</p>
        {errors.length > 0 && (
          <ul className={css.fields}>
            {errors.map(({ pointer, detail }) => (
              <li key={pointer}>
                <code>{pointer}</code> {detail}
              </li>
            ))}
          </ul>
        )}
        {retryAfter !== null && <p>Try again in {retryAfter} s.</p>}
        <p className={css.reference}>
          <a href={`/docs/errors/${encodeURIComponent(code)}`}>{code}</a>
          {requestId !== null && (
            <>
              {' · request ID '}
              <CopyText text={requestId} />
            </>
          )}
        </p>
      </State>
    )
  }
  return (
    <State title="Unexpected error" tone="bad" role="alert" actions={again}>
      <p>{error.message}</p>
    </State>
  )
}
