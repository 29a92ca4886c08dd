/**
 * Text with its line breaks, in which web addresses are links and code is set as code. It makes elements of text and
 * of nothing else.
 */
import { Fragment, type ReactNode } from 'react'
import css from './rich-text.module.css'

/**
 * A block between fences, a span between backticks, or a web address. In text without spaces an address ends at the
 * punctuation of the script: in addresses it is percent-encoded.
 */
const marked =
  /```(?:[\w-]*\n)?([\s\S]+?)```\n?|`([^`\n]+)`|(https?:\/\/[^\s<>"'`“”„«»‘’…、。，．：；！？（）「」『』【】《》〈〉؟،؛۔।]+)/gi

export function RichText({ text }: { readonly text: string }) {
  const parts: ReactNode[] = []
  let end = 0
  for (const match of text.matchAll(marked)) {
    const [all, block, span, address] = match
    parts.push(text.slice(end, match.index))
    end = match.index + all.length
    if (address !== undefined) {
      const url = withoutEnd(address)
      end -= address.length - url.length
      parts.push(
        <a href={url} target="_blank" rel="noreferrer noopener">
          {url}
        </a>,
      )
    } else if (block !== undefined) parts.push(<pre>{block.replace(/\n$/, '')}</pre>)
    else parts.push(<code>{span}</code>)
  }
  parts.push(text.slice(end))
  return (
    <div className={css.text} dir="auto">
      {parts.map((part, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text never move
        <Fragment key={n}>{part}</Fragment>
      ))}
    </div>
  )
}

/** Punctuation after an address belongs to the sentence, and a bracket that was opened before it. */
function withoutEnd(address: string): string {
  const url = address.replace(/[.,;:!?]+$/, '')
  return url.endsWith(')') && !url.includes('(') ? withoutEnd(url.slice(0, -1)) : url
}
