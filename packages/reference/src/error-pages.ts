/** The error catalogue as pages: an index, and one for each code, which is the `type` of its problems. */
import { STATUS_CODES } from 'node:http'
import { errorCatalogue } from '../../service/src/kernel/error-catalogue.ts'
import { type ErrorCode, errorPath, exampleProblem } from '../../service/src/kernel/errors.ts'
import { codeBlock } from './highlight.ts'
import { methodBadge, nameOf, operationAddress } from './navigation.ts'
import { type Content, html } from './page.ts'
import { inline } from './prose.ts'
import type { Reference } from './reference.ts'

const byStatus = Map.groupBy(
  Object.keys(errorCatalogue) as ErrorCode[],
  (code) => errorCatalogue[code].status,
)
const statuses = [...byStatus.keys()].sort((a, b) => a - b)

/** By status. */
export function errorIndex(): Content {
  return {
    title: 'Errors · Deskwire',
    content: html`<h1>Errors</h1>
<p>Every refusal is a problem (RFC 9457, <code>application/problem+json</code>). Decide by its <code>code</code>, show its
<code>detail</code>, keep its <code>requestId</code>; its <code>type</code> leads to one of these pages.</p>
${statuses.map(
  (status) => html`<section aria-labelledby="s${status}">
<h2 id="s${status}">${statusName(status)}</h2>
<dl class="entries">
${byStatus.get(status)?.map(
  (code) => html`<dt><a href="${errorPath(code)}"><code>${code}</code></a></dt>
<dd>${errorCatalogue[code].title}</dd>
`,
)}</dl>
</section>
`,
)}`,
  }
}

export function errorPage(code: ErrorCode, { operations }: Reference): Content {
  const { status, title, means, help } = errorCatalogue[code]
  const givers = [...operations.values()].filter(({ errors }) => errors.includes(code))
  return {
    title: `${code} · Deskwire`,
    content: html`<p class="trail"><a href="/docs/errors">Errors</a> / ${statusName(status)}</p>
<h1>${title}</h1>
<p class="facts"><span class="status">${status}</span> <code>${code}</code></p>
<h2>What it means</h2>
<p>${inline(means)}</p>
<h2>What to do next</h2>
<p>${inline(help)}</p>
<h2>An example</h2>
${codeBlock(
  `HTTP/1.1 ${statusName(status)}
Content-Type: application/problem+json; charset=utf-8

${JSON.stringify(exampleProblem(code), null, 2)}`,
  'json',
  'An example',
)}
<h2>Who answers with it</h2>
${
  givers.length === operations.size
    ? html`<p>Every operation can.</p>`
    : html`<details${givers.length <= 12 ? html` open` : ''}><summary>${givers.length} operations</summary>
<ul class="operations">
${givers.map((operation) => {
  const { id, method } = operation
  return html`<li><a href="${operationAddress(id)}">${methodBadge(method)}${nameOf(operation)}</a></li>\n`
})}</ul>
</details>`
}
`,
  }
}

/** For an unknown code. */
export function unknownErrorPage(name: string): Content {
  return {
    title: 'No such error · Deskwire',
    content: html`<p class="trail"><a href="/docs/errors">Errors</a></p>
<h1>There is no such error</h1>
<p>No problem of this version has the code <code>${name}</code>. <a href="/docs/errors">All codes</a> are listed; one that a
newer version answers with is explained there.</p>
`,
  }
}

function statusName(status: number): string {
  return `${status} ${STATUS_CODES[status]}`
}
