/** The frame of every page that the service serves, and HTML from strings: what is put into a template is escaped. */

export interface Page {
  readonly title: string
  /** Has the id `content` on what the reader came for. */
  readonly body: Html
  /** What it needs of assets, by the address that each is served at. */
  readonly styles: readonly string[]
  readonly scripts?: readonly string[]
  readonly icon: string
}

/** What stands in the frame of a page, and what the page is called. */
export interface Content {
  readonly title: string
  readonly content: Html
}

/** The whole document. */
export function renderPage({ title, body, styles, scripts = [], icon }: Page): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="${icon}">
${styles.map((address) => html`<link rel="stylesheet" href="${address}">\n`)}${scripts.map(
  (address) => html`<script defer src="${address}"></script>\n`,
)}</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
<a class="brand" href="/">Deskwire</a>
<nav aria-label="Documentation">
<a href="/docs/guides">Guides</a>
<a href="/docs">Reference</a>
<a href="/docs/errors">Errors</a>
<a href="/openapi.json">openapi.json</a>
</nav>
</header>
${body}
</body>
</html>
`.text
}

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
