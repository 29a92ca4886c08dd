import css from './mark.module.css'

export function Mark() {
  return (
    <span className={css.mark}>
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path d="M4 6.5h9M4 12h16M4 17.5h9" />
        <circle cx="17" cy="6.5" r="2" />
        <circle cx="17" cy="17.5" r="2" />
      </svg>
      Deskwire
    </span>
  )
}
