/** Functions of the database speak the words of docs/glossary.md: their names and texts may change with every release. */
import { expect, test } from 'vitest'
import { schemaOf } from '../../src/schema.ts'

/** What tables and columns are called stays. */
const names = /\bexpiry_settled_at\b|\b\w+_words\b/g

/** Words that the glossary has others for; each with what it says instead. */
const earlier: Readonly<Record<string, string>> = {
  'lanes?': 'endpoint queue',
  '(p_)?tier': 'priority',
  'settl(e[sd]?|ing)(_lane)?': 'complete',
  'keep_answer|p_keep|kept answers?': 'stored response',
  'lead|max_lead': 'clock skew',
  patient: 'lock_timeout',
  'creations?': 'insert',
  '(change|remove)_(webhook|api_key)': 'update, delete',
  '\\w+_(create|remove)': 'insert, delete',
  'slots?|pace': 'concurrency',
  '\\w*hasten\\w*': 'retry now',
  'judge[sd]?|alarm': 'disable policy, warning',
  'news|rouse[sd]?': 'notify, wake',
}

test.each(Object.entries(earlier))('no function says %s: the glossary says %s', (word) => {
  const said = new RegExp(`\\b(${word})\\b`, 'i')
  const saying = schemaOf().functions.flatMap(({ name, definition }) => {
    const [found] = said.exec(definition.replace(names, '').replaceAll(/_[0-9a-f]{12}\b/g, '')) ?? []
    return found === undefined ? [] : [`${name}: ${found}`]
  })
  expect(saying).toEqual([])
})
