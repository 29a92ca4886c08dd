/** A token or secret that is shown once: closing needs a confirmation. */
import { AlertDialog } from '@base-ui/react/alert-dialog'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { Code } from './code.tsx'
import css from './dialog.module.css'
import { DialogActions } from './dialog.tsx'

interface ShownOnceProps {
  /** Null: nothing is shown. */
  readonly text: string | null
  readonly close: () => void
  /** `Save this token`. */
  readonly title: string
  /** `Token`. */
  readonly label: string
  /** What it is for, and what to do if it is lost. */
  readonly children: ReactNode
}

/** Only its button closes it: Escape or a press outside would lose the text for good. */
export function ShownOnce({ text, close, title, label, children }: ShownOnceProps) {
  return (
    <AlertDialog.Root open={text !== null}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={css.backdrop} />
        <AlertDialog.Popup className={css.popup}>
          <AlertDialog.Title className={css.title}>{title}</AlertDialog.Title>
          <AlertDialog.Description className={css.about} render={<div />}>
            {children}
          </AlertDialog.Description>
          {text !== null && <Code label={label} text={text} />}
          <DialogActions>
            <Button kind="primary" onClick={close}>
              I have saved it
            </Button>
          </DialogActions>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}
