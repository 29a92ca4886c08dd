/** Pages of objects with their fields, and of events with their payload. */
import { type Json, schemaName } from '../../service/src/openapi/api-module.ts'
import { codeBlock } from './highlight.ts'
import { methodBadge, nameOf, operationAddress } from './navigation.ts'
import { type Content, type Html, html } from './page.ts'
import { inline, prose } from './prose.ts'
import { exampleOf, type Reference, type ShownEvent, type ShownOperation } from './reference.ts'
import { fieldList, fieldsOf, typeOf } from './schema-fields.ts'

export function objectPage(name: string, schema: Json, reference: Reference): Content {
  const [example] = exampleOf(schema, reference.schemas)
  const users = operationsWith(reference, ({ answers }) =>
    answers.some(({ content }) => namesIn(content).has(name)),
  )
  const events = [...reference.events.values()].filter(({ data }) => schemaName(data) === name)
  return {
    title: `${name} · Deskwire`,
    isWide: true,
    content: html`<h1>${name}</h1>
${prose(String(schema.description ?? ''), reference)}
<div class="columns">
<div class="says">
<h2 id="fields">Fields</h2>
${fieldList(reference, fieldsOf(schema), { anchor: 'field', marksRequired: false })}
${users.length === 0 ? '' : html`<h2 id="operations">Operations</h2>\n${operationList(users)}`}
${events.length === 0 ? '' : html`<h2 id="events">Events</h2>\n${eventList(events)}`}
</div>
<div class="shows">
${example === undefined ? '' : html`<h2 id="example">An example</h2>\n${codeBlock(JSON.stringify(example, null, 2), 'json', 'An example')}`}
</div>
</div>`,
  }
}

export function eventPage({ type, summary, data, example }: ShownEvent, reference: Reference): Content {
  const always = operationsWith(reference, ({ events }) => events?.always.includes(type) === true)
  const sometimes = operationsWith(reference, ({ events }) => events?.sometimes.includes(type) === true)
  return {
    title: `${type} · Deskwire`,
    isWide: true,
    content: html`<h1><code>${type}</code></h1>
<p class="lead">${inline(summary)}.</p>
<div class="columns">
<div class="says">
<p>An endpoint that has it among its <code>events</code> gets a signed <code>POST</code> with the body beside this, in which
<code>data</code> is ${typeOf(reference, data)}. How to verify it is in <a href="/docs/guides/receiving.md">receiving
webhooks</a>; what it promises, in <a href="/docs/guides/webhooks-or-sync.md">webhooks or sync</a>.</p>
<h2 id="causes">What causes it</h2>
${always.length + sometimes.length === 0 ? html`<p>No call of the stream: see the words above.</p>` : ''}
${operationList(always)}
${sometimes.length === 0 ? '' : html`<p>Depending on what changes:</p>\n${operationList(sometimes)}`}
<h2 id="headers">Headers</h2>
<ul class="fields">
<li><p class="field"><code>X-Service-Event-Id</code></p><p>The event, identical on every attempt: deduplicate by it.</p></li>
<li><p class="field"><code>X-Service-Event-Type</code></p><p><code>${type}</code></p></li>
<li><p class="field"><code>X-Service-Signature</code></p><p>Signs time and body under the endpoint's secret.</p></li>
</ul>
</div>
<div class="shows">
<h2 id="example">The body</h2>
${codeBlock(JSON.stringify(example, null, 2), 'json', 'The body')}
<h2 id="trigger">Cause one</h2>
${codeBlock(`npx deskwire trigger ${type}`, 'shell', 'Cause one')}
</div>
</div>`,
  }
}

function operationsWith(
  reference: Reference,
  holds: (operation: ShownOperation) => boolean,
): readonly ShownOperation[] {
  return [...reference.operations.values()].filter(holds)
}

function operationList(operations: readonly ShownOperation[]): Html {
  if (operations.length === 0) return html``
  return html`<ul class="operations">
${operations.map((operation) => {
  const { id, method, path } = operation
  return html`<li><a href="${operationAddress(id)}">${methodBadge(method)}${nameOf(operation)}</a> <code class="quiet">${path}</code></li>\n`
})}</ul>`
}

function eventList(events: readonly ShownEvent[]): Html {
  return html`<dl class="entries">
${events.map(({ type, summary }) => html`<dt><a href="/docs/events/${type}"><code>${type}</code></a></dt>\n<dd>${summary}</dd>\n`)}</dl>`
}

function namesIn(content: unknown): ReadonlySet<string> {
  const names = [...JSON.stringify(content).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(
    ([, name = '']) => name,
  )
  return new Set(names)
}
