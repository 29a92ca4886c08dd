/** What is shown this once, a token or a secret: leaving is a decision, and says what it means. */
import { AlertDialog } from '@base-ui/react/alert-dialog'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { Code } from './code.tsx'
import css from './dialog.module.css'
import { DialogActions } from './dialog.tsx'

interface ShownOnceProps {
  /** Null where nothing is shown. */
  readonly text: string | null
  readonly close: () => void
  /** `Keep this token`. */
  readonly title: string
  /** What stands over it: `Token`. */
  readonly label: string
  /** What it is for, and what becomes of one that is lost. */
  readonly children: ReactNode
}

/** Closes by its button alone: neither Escape nor a press beside it takes away what is never shown again. */
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
              I have stored it
            </Button>
          </DialogActions>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}
