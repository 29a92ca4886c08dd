/** Asks a signed-in user whether an opened link is to replace the session. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../design/button.tsx'
import { DialogActions } from '../design/dialog.tsx'
import { FormError } from '../design/field.tsx'
import { Mark } from '../shell/mark.tsx'
import { useCaller } from './caller.tsx'
import { switchTo } from './link.ts'
import css from './sign-in.module.css'
import { askForLink, useSession } from './store.ts'

export default function SwitchSession({ link }: { readonly link: string }) {
  const client = useQueryClient()
  const { organization, key } = useCaller()
  const { linkId } = useSession()
  const [error, setError] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)

  async function use(): Promise<void> {
    setBusy(true)
    setError(await switchTo(link, () => client.clear()))
    setBusy(false)
  }

  return (
    <main className={css.page}>
      <title>Switch session · Deskwire</title>
      <div className={css.card}>
        <Mark />
        <h1>Switch session?</h1>
        <p>
          You are signed in to <strong>{organization.name}</strong> with{' '}
          {linkId === null ? (
            <>
              the key <strong>{key.name}</strong>
            </>
          ) : (
            'a console link'
          )}
          .
        </p>
        <p>
          The link starts a new session, possibly in another organization, and ends yours in this tab. Switch
          only if you trust its sender.
        </p>
        <FormError message={error ?? undefined} />
        <DialogActions>
          <Button onClick={() => askForLink(null)}>Stay signed in</Button>
          <Button kind="primary" isBusy={isBusy} onClick={() => void use()}>
            Switch
          </Button>
        </DialogActions>
      </div>
    </main>
  )
}
