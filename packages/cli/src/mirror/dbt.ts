/** The tables of a copy as sources of dbt. */
import type { Table } from '@deskwire/mirror'

/** Where dbt finds the tables: `database` is left out where the profile's own is meant. */
interface Relation {
  readonly database?: string
  readonly schema: string
}

/** A file of sources, `models/sources.yml`. Strings are JSON, which YAML reads. */
export function dbtSources({ database, schema }: Relation, tables: readonly Table[], status: Table): string {
  // Rows tell when something changed; the status tells when the copy was last up to date.
  const freshness = `        config:
          loaded_at_field: caught_up_at
          freshness:
            warn_after: {count: 2, period: hour}
            error_after: {count: 24, period: hour}
`
  return `version: 2

sources:
  - name: deskwire
${database === undefined ? '' : `    database: ${text(database)}\n`}    schema: ${text(schema)}
    tables:
${tables.map((table) => tableText(table)).join('')}${tableText(status, freshness)}`
}

function tableText({ name, comment, columns }: Table, config = ''): string {
  const lines = columns.map(
    (column) => `          - name: ${text(column.name)}
            description: ${text(column.comment)}
${column.name === 'id' ? '            data_tests: [unique, not_null]\n' : ''}`,
  )
  return `      - name: ${text(name)}
        description: ${text(comment)}
${config}        columns:
${lines.join('')}`
}

/** dbt renders texts with Jinja: comments of a service are no templates. */
const text = (value: string) => JSON.stringify(value.replace(/\{(?=[{%#])/g, '{ '))
