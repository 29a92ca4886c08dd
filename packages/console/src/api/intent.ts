/** The Idempotency-Key of what somebody means to make: the same while nothing about it changes, however often it is sent. */
import { useRef } from 'react'
import { newIntent } from './client.ts'

/** Asked with what is sent, tells its key; `done` begins another, so that the same can be meant twice. */
export function useIntent(): { readonly keyFor: (body: unknown) => string; readonly done: () => void } {
  const held = useRef({ of: '', key: '' })
  return {
    keyFor(body) {
      const of = JSON.stringify(body)
      if (held.current.of !== of) held.current = { of, key: newIntent() }
      return held.current.key
    },
    done: () => {
      held.current = { of: '', key: '' }
    },
  }
}
