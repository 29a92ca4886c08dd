/** The Idempotency-Key of a creation: the same until its body changes, however often it is sent. */
import { useRef } from 'react'

/** `done` begins another creation, so that the same body can be sent as a new one. */
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

/** Not `crypto.randomUUID`, which pages without TLS lack. */
function newIntent(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
