/** A schema as a list of fields: name, type, description, and an anchor. */
import { type Json, schemaName } from '../../service/src/openapi/api-module.ts'
import { type Html, html } from './page.ts'
import { prose } from './prose.ts'
import type { Reference } from './reference.ts'

export interface Field {
  readonly name: string
  readonly required: boolean
  readonly description: string
  readonly schema: Json
}

/** In their order; none for another schema. */
export function fieldsOf(schema: Json): readonly Field[] {
  const required = new Set((schema.required ?? []) as readonly string[])
  return Object.entries((schema.properties ?? {}) as Readonly<Record<string, Json>>).map(([name, own]) => ({
    name,
    required: required.has(name),
    description: typeof own.description === 'string' ? own.description : '',
    schema: own,
  }))
}

/** Distinguishes lists on a page; and whether required fields are marked. */
interface Listing {
  readonly anchor: string
  readonly marksRequired: boolean
}

/** Fields of nested objects without a page of their own are included. */
export function fieldList(reference: Reference, fields: readonly Field[], listing: Listing): Html {
  const { anchor, marksRequired } = listing
  return html`<ul class="fields">
${fields.map(({ name, required, description, schema }) => {
  const id = `${anchor}-${name}`
  const inner = innerFields(reference, schema)
  return html`<li id="${id}">
<p class="field"><a class="anchor" href="#${id}"><code>${name}</code></a> <span class="type">${typeOf(reference, schema)}</span>${
    marksRequired && required ? html` <span class="required">required</span>` : ''
  }</p>
${description === '' ? '' : prose(description, reference)}${wordsOf(schema, description)}${
  inner.length === 0
    ? ''
    : html`<details><summary>Its ${inner.length} fields</summary>${fieldList(reference, inner, { ...listing, anchor: id })}</details>`
}</li>
`
})}</ul>`
}

/** Of a field that holds an object, or a list of them. */
function innerFields(reference: Reference, schema: Json): readonly Field[] {
  const own = (schema.items ?? schema) as Json
  const name = schemaName(own)
  if (name === null) return fieldsOf(own)
  return reference.objects.has(name) ? [] : fieldsOf(reference.schemas[name] ?? {})
}

/** In words, with links to objects that have a page. */
export function typeOf(reference: Reference, schema: Json): Html {
  const name = schemaName(schema)
  if (name !== null) {
    return reference.objects.has(name)
      ? html`<a href="${objectAddress(name)}">${name}</a>`
      : html`${reference.schemas[name]?.type ?? 'object'}`
  }
  const either = (schema.oneOf ?? schema.anyOf) as readonly Json[] | undefined
  if (either !== undefined) return joined(either.map((one) => typeOf(reference, one)))
  const types = [(schema.type as string | readonly string[] | undefined) ?? []].flat()
  if (types.length === 0) return html`any value`
  return joined(types.map((type) => plainType(reference, type, schema)))
}

function plainType(reference: Reference, type: string, { format, items, const: only }: Json): Html {
  if (only !== undefined) return html`<code>${JSON.stringify(only)}</code>`
  if (type === 'array') return html`list of ${typeOf(reference, (items ?? {}) as Json)}`
  if (type === 'string' && typeof format === 'string') return html`${format}`
  return html`${type}`
}

function joined(types: readonly Html[]): Html {
  return html`${types.map((type, n) => (n === 0 ? type : html` or ${type}`))}`
}

/** The words of an enumeration, unless the description has them all. */
function wordsOf({ enum: words, examples, default: initial }: Json, description: string): Html | '' {
  const known = ((words ?? examples ?? []) as readonly unknown[]).filter((word) => typeof word === 'string')
  const shown = known.every((word) => description.includes(word)) ? [] : known
  if (shown.length === 0 && initial === undefined) return ''
  return html`<p class="words">${shown.length === 0 ? '' : words === undefined ? 'For example ' : 'One of '}${shown.map(
    (word) => html`<code>${word}</code> `,
  )}${initial === undefined ? '' : html`Unless given: <code>${JSON.stringify(initial)}</code>.`}</p>`
}

export function objectAddress(name: string): string {
  return `/docs/objects/${name}`
}
