/** The frame of every page, and HTML from templates that escape their values. */

export interface Content {
  readonly title: string
  readonly content: Html
  /** For a page that is read from top to bottom. */
  readonly headings?: readonly Heading[]
  /** With a column for samples. */
  readonly isWide?: boolean
}

export interface Heading {
  readonly id: string
  readonly text: string
}

interface Frame {
  /** The sidebar and the breadcrumb. */
  readonly sidebar: Html
  readonly trail: Html
  /** Addresses. */
  readonly styles: readonly string[]
  readonly script: string
  /** Runs before anything is rendered. */
  readonly theme: string
  readonly icon: string
}

/** The whole document. Its script only searches, copies and makes calls. */
export function renderPage({ title, content, headings = [], isWide = false }: Content, frame: Frame): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<script src="${frame.theme}"></script>
<link rel="icon" type="image/svg+xml" href="${frame.icon}">
${frame.styles.map((address) => html`<link rel="stylesheet" href="${address}">\n`)}<script type="module" src="${frame.script}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
<button class="menu" type="button" popovertarget="navigation">Menu</button>
<a class="brand" href="/"><img src="${frame.icon}" alt="" width="22" height="22">Deskwire</a>
<button class="seek needs-script" type="button" data-seek aria-keyshortcuts="/ Control+K Meta+K"><span>Search</span><kbd>/</kbd></button>
<nav aria-label="Service">
<a href="/docs">Documentation</a>
<a href="/console">Console</a>
<a href="/openapi.json">openapi.json</a>
</nav>
</header>
<div class="frame${isWide ? ' wide' : ''}">
${frame.sidebar}
<main id="content" class="page" tabindex="-1">
${frame.trail}${content}
</main>
${
  headings.length < 3
    ? ''
    : html`<nav class="contents" aria-label="On this page">
<p>On this page</p>
<ul>
${headings.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>\n`)}</ul>
</nav>`
}</div>
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
