/** Code to look at and to copy. Foreign content is shown as text and never interpreted. */
import css from './code.module.css'
import { CopyButton } from './copy.tsx'

export function Code({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <figure className={css.code}>
      <figcaption>
        <span>{label}</span>
        <CopyButton text={text} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  )
}

/** JSON in colours. */
export function Json({ value, label }: { readonly value: unknown; readonly label: string }) {
  const text = JSON.stringify(value, null, 2) ?? 'null'
  return (
    <figure className={css.code}>
      <figcaption>
        <span>{label}</span>
        <CopyButton text={text} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard */}
      <pre tabIndex={0}>
        <code>{coloured(text)}</code>
      </pre>
    </figure>
  )
}

/** Names, texts and other values, as JSON.stringify writes them. */
const token = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|-?\d[\d.eE+-]*/g

/** Longer values have no colours, as each part is an element of the page. */
const colouredUpTo = 40_000

function coloured(text: string) {
  if (text.length > colouredUpTo) return text
  const parts = []
  let from = 0
  for (const match of text.matchAll(token)) {
    const [whole, quoted, colon] = match
    if (match.index > from) parts.push(text.slice(from, match.index))
    const kind = quoted === undefined ? css.value : colon === undefined ? css.string : css.name
    parts.push(
      <span key={match.index} className={kind}>
        {quoted ?? whole}
      </span>,
    )
    from = match.index + (quoted ?? whole).length
  }
  parts.push(text.slice(from))
  return parts
}
