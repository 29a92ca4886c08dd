/** Copies a text. A page without a secure context has no clipboard: then the text is selected. */
import { useEffect, useRef, useState } from 'react'
import css from './copy.module.css'

/** Returns whether it was copied; the page says so in either case. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

function useCopied(): readonly [
  state: 'copied' | 'selected' | null,
  run: (text: string, shown: Node | null) => void,
] {
  const [state, setState] = useState<'copied' | 'selected' | null>(null)
  useEffect(() => {
    if (state === null) return
    const forgetting = setTimeout(() => setState(null), 1600)
    return () => clearTimeout(forgetting)
  }, [state])
  async function run(text: string, shown: Node | null): Promise<void> {
    const isCopied = await copy(text)
    if (!isCopied && shown !== null) window.getSelection()?.selectAllChildren(shown)
    setState(isCopied ? 'copied' : 'selected')
  }
  return [state, (text, shown) => void run(text, shown)]
}

/** An id. `short` shows its end, as ids of one moment begin alike. */
export function CopyText({ text, short = false }: { readonly text: string; readonly short?: boolean }) {
  const shown = useRef<HTMLElement>(null)
  const [state, run] = useCopied()
  return (
    <button
      type="button"
      className={css.text}
      title={`Copy ${text}`}
      onClick={(event) => {
        // The row around it may be a link.
        event.preventDefault()
        event.stopPropagation()
        run(text, shown.current)
      }}
    >
      <code ref={shown}>{short && text.length > 12 ? `…${text.slice(-8)}` : text}</code>
      <span className={css.said} role="status">
        {state === 'copied' ? 'Copied' : state === 'selected' ? 'Selected' : ''}
      </span>
      <span className="unseen">{state === null ? 'Copy' : ''}</span>
    </button>
  )
}

export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const shown = useRef<HTMLSpanElement>(null)
  const [state, run] = useCopied()
  return (
    <button type="button" className={css.button} onClick={() => run(text, null)}>
      <span ref={shown} role="status">
        {state === 'copied' ? 'Copied' : state === 'selected' ? 'Select the text to copy it' : label}
      </span>
    </button>
  )
}
