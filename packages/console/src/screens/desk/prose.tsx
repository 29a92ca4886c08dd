import css from './prose.module.css'

/** Text with its line breaks. */
export function Prose({ text, none }: { readonly text: string | null; readonly none: string }) {
  return text === null || text === '' ? (
    <p className={css.none}>{none}</p>
  ) : (
    <p className={css.prose} dir="auto">
      {text}
    </p>
  )
}
