/** Brings what rows are found by to the words that `search.ts` makes now, in a migration, beside processes that write. */
import { readJson } from '@deskwire/sdk/json'
import type { Client } from 'pg'
import type { Migration } from '../../db/migration.ts'
import type { State } from './kind.ts'
import { termsOf } from './search.ts'

/** Rows that a piece looks at. */
const pieceRows = 500

interface Found {
  readonly organization_id: string
  readonly id: string
  readonly terms: string
  /** Null where all of it is ASCII, whose words no rule has changed. */
  readonly body: string | null
}

/** For rows of `table`, whose words are those of `fields`. A row that is written meanwhile is left as it was written. */
export function reviseWords(table: string, fields: readonly string[]): Omit<Migration, 'id'> {
  async function piece(client: Pick<Client, 'query'>, after: string | null): Promise<string | null> {
    const { rows } = await client.query<Found>(
      `select w.organization_id, w.id, w.terms,
          (select t.body from ${table} t where t.organization_id = w.organization_id and t.id = w.id
            and octet_length(t.body) <> char_length(t.body)) as body
        from ${table}_words w where (w.organization_id, w.id) > ($1, $2)
        order by w.organization_id, w.id limit ${pieceRows}`,
      after === null ? [beforeAll, beforeAll] : after.split(' '),
    )
    for (const { organization_id, id, terms: before, body } of rows) {
      if (body === null) continue
      const terms = termsOf(fields, readJson(body) as State)
      if (terms === before) continue
      await client.query(
        `update ${table}_words set terms = $3 where organization_id = $1 and id = $2 and terms = $4`,
        [organization_id, id, terms, before],
      )
    }
    const last = rows.length < pieceRows ? undefined : rows.at(-1)
    return last === undefined ? null : `${last.organization_id} ${last.id}`
  }
  return { gradually: { piece }, statements: [] }
}

const beforeAll = '00000000-0000-0000-0000-000000000000'
