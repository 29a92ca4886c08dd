/** What is pressed. One `primary` a screen; `danger` for what cannot be taken back. */
import type { ComponentProps } from 'react'
import css from './button.module.css'

interface ButtonProps extends ComponentProps<'button'> {
  readonly kind?: 'primary' | 'plain' | 'quiet' | 'danger'
  readonly size?: 'm' | 's'
  /** Pressed, and not yet answered: it keeps its width and its place, and takes no second press. */
  readonly isBusy?: boolean
}

export function Button({ kind = 'plain', size = 'm', isBusy = false, onClick, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      data-kind={kind}
      data-size={size}
      aria-busy={isBusy || undefined}
      aria-disabled={isBusy || undefined}
      className={[css.button, rest.className].filter(Boolean).join(' ')}
      onClick={(event) => {
        if (isBusy) event.preventDefault()
        else onClick?.(event)
      }}
    />
  )
}
