/** A secret, which is shown this once: leaving is a decision, and says what it means. */
import { AlertDialog } from '@base-ui/react/alert-dialog'
import { Button } from '../../design/button.tsx'
import { Code } from '../../design/code.tsx'
import dialog from '../../design/dialog.module.css'
import { DialogActions } from '../../design/dialog.tsx'

export function SecretOnce({
  secret,
  close,
}: {
  readonly secret: string | null
  readonly close: () => void
}) {
  return (
    <AlertDialog.Root open={secret !== null}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={dialog.backdrop} />
        <AlertDialog.Popup className={dialog.popup}>
          <AlertDialog.Title className={dialog.title}>Keep this secret</AlertDialog.Title>
          <AlertDialog.Description className={dialog.about}>
            Your receiver verifies signatures with it. It is shown this once; a lost one can only be replaced.
          </AlertDialog.Description>
          {secret !== null && <Code label="Secret" text={secret} />}
          <DialogActions>
            <Button kind="primary" onClick={close}>
              I have stored it
            </Button>
          </DialogActions>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}
