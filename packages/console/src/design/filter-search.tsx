/** Search words of a list: applied when typing pauses, and at once by Enter. */
import { useEffect, useRef, useState } from 'react'
import css from './filter-search.module.css'

/** Milliseconds without a key. */
const pause = 250

export function FilterSearch({
  label,
  value,
  onChange,
}: {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (words: string | undefined) => void
}) {
  const [words, setWords] = useState(value ?? '')
  const sent = useRef(value)
  // By "clear the filters", or by going back.
  useEffect(() => {
    if (value === sent.current) return
    sent.current = value
    setWords(value ?? '')
  }, [value])
  useEffect(() => {
    const wanted = words.trim() === '' ? undefined : words.trim()
    if (wanted === sent.current) return
    const waiting = setTimeout(() => {
      sent.current = wanted
      onChange(wanted)
    }, pause)
    return () => clearTimeout(waiting)
  }, [words, onChange])
  return (
    <input
      type="search"
      className={css.search}
      aria-label={label}
      aria-keyshortcuts="/"
      placeholder={label}
      value={words}
      data-set={value !== undefined || undefined}
      onChange={(event) => setWords(event.currentTarget.value)}
    />
  )
}
