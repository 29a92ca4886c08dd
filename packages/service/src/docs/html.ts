/** HTML from strings: what is put into a template is escaped, and what is HTML says so by its type. */

export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** `` html`<p>${anything}</p>` ``; lists are joined. */
export function html(parts: TemplateStringsArray, ...values: readonly unknown[]): Html {
  return new Html(parts.map((part, n) => (n === 0 ? part : shown(values[n - 1]) + part)).join(''))
}

function shown(value: unknown): string {
  if (value instanceof Html) return value.text
  if (Array.isArray(value)) return value.map(shown).join('')
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** `text` with what stands between backticks as code. */
export function inline(text: string): Html[] {
  return text.split('`').map((part, n) => (n % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))
}
