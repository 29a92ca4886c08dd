/** Modal dialogs: forms, and confirmations. */
import { AlertDialog } from '@base-ui/react/alert-dialog'
import { Dialog as Primitive } from '@base-ui/react/dialog'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Button } from './button.tsx'
import css from './dialog.module.css'
import { ErrorState } from './states.tsx'

interface DialogProps {
  readonly isOpen: boolean
  readonly close: () => void
  readonly title: string
  readonly about?: ReactNode
  readonly children: ReactNode
  readonly isWide?: boolean
}

/**
 * Closes by Escape, by its button and by a press outside, unless something was typed: then it asks. The first field has
 * the focus, which returns to where it was.
 */
export function Dialog({ isOpen, close, title, about, children, isWide = false }: DialogProps) {
  const popup = useRef<HTMLDivElement>(null)
  const [typed, setTyped] = useState<'nothing' | 'something' | 'asked'>('nothing')
  useEffect(() => {
    if (!isOpen) setTyped('nothing')
  }, [isOpen])
  return (
    <Primitive.Root
      open={isOpen}
      onOpenChange={(open) => {
        if (open) return
        if (typed === 'nothing') close()
        else setTyped('asked')
      }}
    >
      <Primitive.Portal>
        <Primitive.Backdrop className={css.backdrop} />
        <Primitive.Popup
          ref={popup}
          className={css.popup}
          data-wide={isWide || undefined}
          initialFocus={() => popup.current?.querySelector<HTMLElement>(firstField) ?? true}
          onInput={() => setTyped('something')}
          onClick={({ target }) => {
            // A choice is no input: of a list, or of pressed buttons.
            if (target instanceof Element && target.closest('[role=option], [aria-pressed]'))
              setTyped('something')
          }}
        >
          <header className={css.head}>
            <Primitive.Title className={css.title}>{title}</Primitive.Title>
            <Primitive.Close className={css.close} aria-label="Close">
              ×
            </Primitive.Close>
          </header>
          {about !== undefined && (
            <Primitive.Description className={css.about}>{about}</Primitive.Description>
          )}
          {children}
          {typed === 'asked' && (
            <div className={css.asked} role="alert">
              <p>Discard your changes?</p>
              <Button size="s" onClick={() => setTyped('something')}>
                Keep editing
              </Button>
              <Button size="s" kind="danger" onClick={close}>
                Discard
              </Button>
            </div>
          )}
        </Primitive.Popup>
      </Primitive.Portal>
    </Primitive.Root>
  )
}

const firstField = ':is(input, textarea, [role=combobox]):not([type=hidden], [aria-hidden], :disabled)'

export function DialogActions({ children }: { readonly children: ReactNode }) {
  return <div className={css.actions}>{children}</div>
}

interface ConfirmProps {
  readonly isOpen: boolean
  readonly close: () => void
  /** `Delete this endpoint?` */
  readonly title: string
  /** The consequences. */
  readonly children: ReactNode
  /** What the button does: `Delete`. */
  readonly verb: string
  readonly kind?: 'danger' | 'primary'
  readonly isDisabled?: boolean
  /** Closes when it resolves; an error is shown, and the dialog stays. */
  readonly act: () => Promise<unknown>
  /** `act` closes it, or asks something else. */
  readonly closesItself?: boolean
}

export function Confirm({
  isOpen,
  close,
  title,
  children,
  verb,
  kind = 'danger',
  isDisabled = false,
  act,
  closesItself = false,
}: ConfirmProps) {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  async function run(): Promise<void> {
    setBusy(true)
    setError(null)
    try {
      await act()
      if (!closesItself) close()
    } catch (thrown) {
      setError(thrown instanceof Error ? thrown : new Error(String(thrown)))
    } finally {
      setBusy(false)
    }
  }
  return (
    <AlertDialog.Root
      open={isOpen}
      onOpenChange={(open) => {
        if (open) return
        setError(null)
        close()
      }}
    >
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={css.backdrop} />
        <AlertDialog.Popup className={css.popup}>
          <AlertDialog.Title className={css.title}>{title}</AlertDialog.Title>
          <AlertDialog.Description className={css.about} render={<div />}>
            {children}
          </AlertDialog.Description>
          {error !== null && <ErrorState error={error} />}
          <DialogActions>
            <AlertDialog.Close render={<Button />}>Cancel</AlertDialog.Close>
            <Button kind={kind} isBusy={isBusy} disabled={isDisabled} onClick={() => void run()}>
              {verb}
            </Button>
          </DialogActions>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}
