/** The page of an operation: parameters, responses, errors, events, samples, and a form that calls it. */
import { STATUS_CODES } from 'node:http'
import { errorCatalogue } from '../../service/src/kernel/error-catalogue.ts'
import { errorPath } from '../../service/src/kernel/errors.ts'
import type { Json } from '../../service/src/openapi/api-module.ts'
import { codeBlock } from './highlight.ts'
import { methodBadge, nameOf } from './navigation.ts'
import { type Content, type Html, html } from './page.ts'
import { eventAddress, inline, prose } from './prose.ts'
import { exampleOf, type Reference, type ShownAnswer, type ShownOperation } from './reference.ts'
import { exampleValue, languages, samplesOf } from './samples.ts'
import { fieldList, fieldsOf, typeOf } from './schema-fields.ts'

export function operationPage(operation: ShownOperation, reference: Reference): Content {
  const { summary, method, path, description, body } = operation
  const name = nameOf(operation)
  const parameters = (where: string) => operation.parameters.filter((one) => one.in === where)
  const listed = (id: string, name: string, where: string) =>
    parameters(where).length === 0
      ? ''
      : html`<section aria-labelledby="${id}">
<h2 id="${id}">${name}</h2>
${fieldList(reference, parameters(where), { anchor: where, marksRequired: true })}
</section>`
  return {
    title: `${name} · Deskwire`,
    isWide: true,
    content: html`<h1>${inline(name)}</h1>
<p class="call">${methodBadge(method)}<code>${path}</code></p>
<div class="columns">
<div class="says">
${name === summary ? '' : prose(`${summary}.`, reference)}${prose(description, reference)}
${facts(operation, reference)}
${listed('path', 'In the path', 'path')}
${listed('query', 'Query', 'query')}
${body === null ? '' : bodySection(body, reference)}
${listed('header', 'Headers', 'header')}
<section aria-labelledby="answers">
<h2 id="answers">Answers</h2>
${operation.answers.map((answer) => answerSection(answer, reference))}
</section>
${errorSection(operation)}
</div>
<div class="shows">
${samplesSection(operation, reference)}
${tryForm(operation, reference)}
${exampleAnswers(operation)}
</div>
</div>`,
  }
}

function facts({ access, once, events, client }: ShownOperation, reference: Reference): Html {
  const needs =
    access === 'public'
      ? html`No key`
      : access === 'any key'
        ? html`Any key`
        : html`A key with <code>${access}</code>`
  return html`<dl class="facts">
<div><dt>Needs</dt><dd>${needs}</dd></div>
${client === null ? '' : html`<div><dt>Method</dt><dd><a href="/docs/reference/methods.md#${client.replace('.', '').toLowerCase()}"><code>${client}</code></a> of the SDKs</dd></div>`}
${once ? html`<div><dt>Repeated</dt><dd>Made once under an <a href="/docs/specification.md#131-idempotency-keys">Idempotency-Key</a></dd></div>` : ''}
${events === null ? '' : html`<div><dt>Events</dt><dd>${eventsOf(events, reference)}</dd></div>`}
</dl>`
}

function eventsOf(
  { always, sometimes, silent }: NonNullable<ShownOperation['events']>,
  { events }: Reference,
): Html {
  const links = (types: readonly string[]) =>
    types.map((type, n) => html`${n === 0 ? '' : ', '}${link(type)}`)
  const link = (type: string) =>
    events.has(type)
      ? html`<a href="${eventAddress(type)}"><code>${type}</code></a>`
      : html`<code>${type}</code>`
  const parts = [
    ...(always.length === 0 ? [] : [html`${links(always)}`]),
    ...(sometimes.length === 0
      ? []
      : [
          html`${always.length > 0 ? 'sometimes ' : silent ? 'Sometimes ' : 'One or more of '}${links(sometimes)}`,
        ]),
    ...(silent
      ? [html`${always.length + sometimes.length === 0 ? 'None' : 'or none'}: only a sync shows it`]
      : []),
  ]
  const said = parts.length === 0 ? [html`None: only a sync shows it`] : parts
  return html`${said.map((part, n) => html`${n === 0 ? '' : '; '}${part}`)}`
}

function bodySection({ schema, required }: NonNullable<ShownOperation['body']>, reference: Reference): Html {
  const own = reference.schemas[schema] ?? {}
  const fields = fieldsOf(own)
  return html`<section aria-labelledby="body">
<h2 id="body">Body</h2>
<p class="quiet">JSON${required ? '' : '; it may be left out'}. ${typeof own.description === 'string' ? inline(own.description, reference) : ''}</p>
${fieldList(reference, fields, { anchor: 'body', marksRequired: true })}
</section>`
}

function answerSection({ status, description, content, headers }: ShownAnswer, reference: Reference): Html {
  const named = content.map(({ mediaType, schema }) => {
    const fields = fieldsOf(schema)
    const lines = schema.contentSchema as { readonly items: Json } | undefined
    const what =
      lines === undefined ? typeOf(reference, schema) : html`lines of ${typeOf(reference, lines.items)}`
    return html`<p class="field"><code>${mediaType}</code> <span class="type">${what}</span></p>
${fields.length === 0 ? listOf(schema, reference) : fieldList(reference, fields, { anchor: `answer-${status}`, marksRequired: false })}`
  })
  return html`<h3 id="answer-${status}"><span class="status good">${status}</span> ${STATUS_CODES[status] ?? ''}</h3>
${prose(description, reference)}
${named}
<p class="quiet">Headers: ${headers.map((name, n) => html`${n === 0 ? '' : ', '}<code>${name}</code>`)}</p>
`
}

/** The fields of a list's page, which has no page of its own. */
function listOf(schema: Readonly<Record<string, unknown>>, reference: Reference): Html | '' {
  const name =
    String(schema.$ref ?? '')
      .split('/')
      .at(-1) ?? ''
  if (name === '' || reference.objects.has(name)) return ''
  return fieldList(reference, fieldsOf(reference.schemas[name] ?? {}), {
    anchor: 'answer',
    marksRequired: false,
  })
}

function errorSection({ errors }: ShownOperation): Html {
  const byStatus = [...errors].sort((a, b) => errorCatalogue[a].status - errorCatalogue[b].status)
  return html`<section aria-labelledby="errors">
<h2 id="errors">Errors</h2>
<ul class="errors">
${byStatus.map((code) => {
  const { status, title } = errorCatalogue[code]
  return html`<li><span class="status">${status}</span> <a href="${errorPath(code)}"><code>${code}</code></a> <span class="quiet">${title}</span></li>\n`
})}</ul>
</section>`
}

/** Shows one language at a time, chosen without a script. */
function samplesSection(operation: ShownOperation, reference: Reference): Html {
  const samples = samplesOf(operation, reference)
  return html`<section class="samples" aria-label="Samples">
<fieldset class="choice">
<legend>Language</legend>
${samples.map(
  ({ language }, n) =>
    html`<label><input type="radio" name="language" value="${language}"${n === 0 ? html` checked` : ''}>${languages[language]}</label>\n`,
)}</fieldset>
${samples.map(
  ({ language, code }) =>
    html`<div class="sample" data-language="${language}">${codeBlock(code.trimEnd(), language, `In ${languages[language]}`)}</div>\n`,
)}</section>`
}

function exampleAnswers({ answers }: ShownOperation): Html {
  const [first] = answers
  const shown = (first?.examples ?? []).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
    const title = `${first?.status}${name === '' ? '' : `, ${name}`}`
    return html`<h3>${title}</h3>\n${codeBlock(text.trimEnd(), 'json', `An answer: ${title}`)}`
  })
  return shown.length === 0
    ? html``
    : html`<section aria-labelledby="example"><h2 id="example">An answer</h2>${shown}</section>`
}

/** Sends the call from the page. The key stays in the tab. */
function tryForm(operation: ShownOperation, reference: Reference): Html {
  const { id, method, path, access, body } = operation
  const parameters = operation.parameters.filter((one) => one.in !== 'header' || one.name !== 'X-Request-Id')
  const example =
    body === null ? undefined : exampleOf(reference.schemas[body.schema] ?? {}, reference.schemas)[0]
  return html`<details class="try needs-script">
<summary>Try it</summary>
<form data-try data-method="${method}" data-path="${path}" autocomplete="off">
${
  access === 'public'
    ? ''
    : html`<label>Key <input type="password" data-key required autocomplete="off" placeholder="dwk_…" spellcheck="false"></label>
<p class="quiet">It stays in this tab, and goes to this service alone.</p>`
}
${parameters.map(
  ({ name, in: where, required, schema }) =>
    html`<label>${name} <input data-in="${where}" name="${name}"${required ? html` required` : ''} placeholder="${where === 'path' ? exampleValue(operation, name) : placeholderOf(schema)}" spellcheck="false"></label>\n`,
)}${
  body === null
    ? ''
    : html`<label>Body <textarea data-body rows="${Math.min(14, JSON.stringify(example ?? {}, null, 2).split('\n').length + 1)}" spellcheck="false">${JSON.stringify(example ?? {}, null, 2)}</textarea></label>\n`
}<button type="submit">Send ${method.toUpperCase()}</button>
</form>
<div class="outcome" role="status" data-outcome="${id}"></div>
</details>`
}

function placeholderOf({
  default: initial,
  enum: words,
  format,
  examples,
}: Readonly<Record<string, unknown>>): string {
  if (initial !== undefined) return String(initial)
  const known = (words ?? examples) as readonly unknown[] | undefined
  if (known !== undefined) return known.join(', ')
  return typeof format === 'string' ? format : ''
}
