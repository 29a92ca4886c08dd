/** Sign-in with an API key, which is tried before it is stored. Returns to the page where the user was. */
import { DeskwireError } from '@deskwire/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { clientOf } from '../api/client.ts'
import { Button } from '../design/button.tsx'
import { Field, TextInput } from '../design/field.tsx'
import { Mark } from '../shell/mark.tsx'
import css from './sign-in.module.css'
import { beginSession } from './store.ts'

export default function SignIn({ reason }: { readonly reason: string | null }) {
  const client = useQueryClient()
  const [token, setToken] = useState('')
  const [error, setError] = useState<string | null>(null)
  const [isTrying, setTrying] = useState(false)

  async function signIn(): Promise<void> {
    const given = token.trim()
    if (given === '') return setError('Enter an API key. It starts with dwk_.')
    setTrying(true)
    const refusal = await refusalOf(given)
    setTrying(false)
    setError(refusal)
    if (refusal !== null) return
    client.clear()
    beginSession(given)
  }

  return (
    <main className={css.page}>
      <title>Sign in · Deskwire</title>
      <form
        className={css.card}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void signIn()
        }}
      >
        <Mark />
        <h1>Sign in</h1>
        {reason !== null && (
          <p className={css.reason} role="status">
            {reason}
          </p>
        )}
        <Field
          label="API key"
          hint="Stored in this browser until you close its tabs or sign out. The key’s scopes decide what you can do."
          error={error ?? undefined}
        >
          <TextInput
            ref={focusAtOnce}
            type="password"
            autoComplete="off"
            spellCheck={false}
            placeholder="dwk_…"
            mono
            value={token}
            onChange={(event) => setToken(event.currentTarget.value)}
          />
        </Field>
        <Button kind="primary" type="submit" isBusy={isTrying}>
          Sign in
        </Button>
        <p className={css.help}>
          The service prints a key at its first start. Create more with{' '}
          <code>deskwire organizations create</code> and <code>deskwire organizations create-key</code>.{' '}
          <a href="/docs/guides/keys.md">About API keys</a>
        </p>
      </form>
    </main>
  )
}

/** There is nothing else to do here. */
function focusAtOnce(input: HTMLInputElement | null): void {
  input?.focus()
}

/** Why this key does not open the console; null when it does. */
async function refusalOf(token: string): Promise<string | null> {
  try {
    await clientOf(token).organization.get()
    return null
  } catch (error) {
    // Text that no header can hold is not a key.
    if (error instanceof TypeError)
      return 'This is not an API key. Keys start with dwk_ and contain only letters and digits.'
    if (error instanceof DeskwireError && error.status !== 0) return error.detail
    return `Cannot reach the service. ${error instanceof DeskwireError ? error.detail : ''}`
  }
}
