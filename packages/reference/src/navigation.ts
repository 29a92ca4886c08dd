/** The sidebar of every page and the cards of the first, ordered by task. */

import { schemaName } from '../../service/src/openapi/api-module.ts'
import type { Documents } from './documents.ts'
import { type Html, html } from './page.ts'
import { eventAddress } from './prose.ts'
import type { Reference, ShownOperation } from './reference.ts'
import { objectAddress } from './schema-fields.ts'
import { type Task, tasks } from './tasks.ts'

interface Link {
  readonly address: string
  readonly title: string
  readonly about: string
  /** Of an operation. */
  readonly method?: string
}

interface Group {
  readonly title: string
  readonly links: readonly Link[]
}

export interface Section {
  readonly task: Task
  readonly title: string
  readonly about: string
  /** Guides and pages, in reading order. */
  readonly pages: readonly Link[]
  readonly groups: readonly Group[]
}

interface Place {
  readonly task: Task
  readonly title: string
  readonly holds: (operation: ShownOperation) => boolean
}

/** Where operations are listed: the first match wins. Others are a kind's, in a group of its tag. */
const places: readonly Place[] = [
  { task: 'copy', title: 'The stream', holds: ({ tag }) => tag === 'changes' },
  { task: 'copy', title: 'Exports', holds: ({ path }) => path.endsWith('/export') },
  { task: 'copy', title: 'Digests', holds: ({ path }) => path.endsWith('/digests') },
  { task: 'webhooks', title: 'Deliveries', holds: ({ path }) => path.includes('/deliveries') },
  { task: 'webhooks', title: 'Recoveries', holds: ({ path }) => /\/recover/.test(path) },
  { task: 'webhooks', title: 'Endpoints', holds: ({ tag }) => tag === 'webhooks' },
  { task: 'keys', title: 'API keys', holds: ({ tag }) => tag === 'api-keys' },
  { task: 'keys', title: 'Organization', holds: ({ tag }) => tag === 'organization' },
  { task: 'operate', title: 'The service', holds: ({ tag }) => tag === 'service' },
]

const overview: Link = {
  address: '/docs',
  title: 'Overview',
  about: 'Address, key, a first call, and the rules of all calls.',
}
const errors: Link = {
  address: '/docs/errors',
  title: 'Errors',
  about: 'What each code means and what to do about it.',
}

/** Every task with its pages. Every operation, event and document is in one place. */
export function sectionsOf(reference: Reference, documents: Documents): readonly Section[] {
  const grouped = new Map<Task, Map<string, ShownOperation[]>>()
  for (const operation of reference.operations.values()) {
    const { task, title } = placeOf(operation)
    const groups = grouped.get(task) ?? new Map<string, ShownOperation[]>()
    groups.set(title, [...(groups.get(title) ?? []), operation])
    grouped.set(task, groups)
  }
  return (Object.keys(tasks) as Task[]).map((task) => ({
    task,
    ...tasks[task],
    pages: [
      ...(task === 'start' ? [overview] : []),
      ...[...documents.values()].flatMap(({ path, title, about, task: its }) =>
        about === null || its !== task ? [] : [{ address: `/docs/${path}`, title, about }],
      ),
      ...(task === 'start' ? [errors] : []),
    ],
    groups: [
      ...toldFirst([...(grouped.get(task) ?? [])]).map(([title, operations]) => ({
        title,
        links: [...objectsOf(reference, operations), ...operations.map(operationLink)],
      })),
      ...(task === 'webhooks' ? [eventGroup(reference)] : []),
    ],
  }))
}

/** Kinds that have events come first. */
function toldFirst(groups: readonly (readonly [string, readonly ShownOperation[]])[]) {
  const isTold = ({ events }: ShownOperation) =>
    events === null || events.always.length + events.sometimes.length > 0
  const told = groups.filter(([, operations]) =>
    operations.some((one) => one.method !== 'get' && isTold(one)),
  )
  return [...told, ...groups.filter((group) => !told.includes(group))]
}

export function placeOf(operation: ShownOperation): Omit<Place, 'holds'> {
  const { tag } = operation
  return (
    places.find(({ holds }) => holds(operation)) ?? {
      task: 'desk',
      title: capitalized(tag.replaceAll('-', ' ')),
    }
  )
}

export function operationAddress(id: string): string {
  return `/docs/api/${id}`
}

function operationLink({ id, method, path, summary }: ShownOperation): Link {
  const about = `${method.toUpperCase()} ${path}`
  const action = actionOf({ method, path })
  const title = action === null ? summary : capitalized(action.replaceAll('-', ' '))
  return { address: operationAddress(id), title, about, method }
}

/** Its summary; for an action its name, as its summary is a sentence or two. */
export function nameOf({ id, method, path, summary }: ShownOperation): string {
  if (actionOf({ method, path }) === null) return summary
  return capitalized(id.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`))
}

function actionOf({ method, path }: Pick<ShownOperation, 'method' | 'path'>): string | null {
  return method === 'post' ? (/\{\w+\}\/([a-z-]+)$/.exec(path)?.[1] ?? null) : null
}

/** Objects that one of these operations reads by id. */
function objectsOf({ objects }: Reference, operations: readonly ShownOperation[]): Link[] {
  const readers = operations.filter(
    ({ method, path }) => method === 'get' && (path.endsWith('}') || !path.includes('{')),
  )
  const names = readers.flatMap(
    ({ answers }) => answers[0]?.content.map(({ schema }) => schemaName(schema)) ?? [],
  )
  return [...new Set(names)].flatMap((name) => {
    const { properties = {}, description = '' } = (name === null ? undefined : objects.get(name)) ?? {}
    if (name === null || !('organizationId' in (properties as object) || 'id' in (properties as object)))
      return []
    return [{ address: objectAddress(name), title: `The ${wordsOf(name)}`, about: String(description) }]
  })
}

/** `ApiKey`, in words. */
function wordsOf(name: string): string {
  return name
    .replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function eventGroup({ events }: Reference): Group {
  return {
    title: 'Event types',
    links: [...events.values()].map(({ type, summary }) => ({
      address: eventAddress(type),
      title: type,
      about: summary,
    })),
  }
}

/** The task and the group of a page; null: none. */
function standing(sections: readonly Section[], address: string) {
  for (const section of sections) {
    if (section.pages.some((link) => link.address === address)) return { section, group: null }
    const group = section.groups.find(({ links }) => links.some((link) => link.address === address))
    if (group !== undefined) return { section, group }
  }
  return null
}

/** The sidebar, open at the page. */
export function sidebar(sections: readonly Section[], address: string): Html {
  const current = address.startsWith(`${errors.address}/`) ? errors.address : address
  const here = standing(sections, current)
  const anchor = (link: Link) =>
    anchorTo(link, link.address === current ? (current === address ? 'page' : 'true') : null)
  return html`<nav id="navigation" class="side" popover aria-label="Documentation">
${sections.map(
  (section) => html`<details class="task"${here?.section === section ? html` open` : ''}>
<summary>${section.title}</summary>
<ul>
${section.pages.map((link) => html`<li>${anchor(link)}</li>\n`)}${section.groups.map(
  (group) => html`<li><details class="group"${here?.group === group ? html` open` : ''}>
<summary>${group.title}</summary>
<ul>
${group.links.map((link) => html`<li>${anchor(link)}</li>\n`)}</ul>
</details></li>
`,
)}</ul>
</details>
`,
)}</nav>`
}

function anchorTo({ address, title, method }: Link, current: 'page' | 'true' | null): Html {
  const mark = current === null ? '' : html` aria-current="${current}"`
  return html`<a href="${address}"${mark}>${method === undefined ? '' : methodBadge(method)}${title}</a>`
}

/** The breadcrumb of a page; empty for one without a task. */
export function trail(sections: readonly Section[], address: string): Html {
  const here = standing(sections, address)
  if (here === null || address === overview.address) return html``
  const { section, group } = here
  return html`<p class="trail">${section.title}${group === null ? '' : ` / ${group.title}`}</p>\n`
}

export function methodBadge(method: string): Html {
  return html`<span class="method ${method}">${method.toUpperCase()}</span> `
}
