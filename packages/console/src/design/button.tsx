/** One `primary` a screen; `danger` for what cannot be undone. */
import type { ComponentProps } from 'react'
import css from './button.module.css'

interface ButtonProps extends ComponentProps<'button'> {
  readonly kind?: 'primary' | 'plain' | 'quiet' | 'danger'
  readonly size?: 'm' | 's'
  /** While the call runs: keeps its width, and cannot be pressed again. */
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
