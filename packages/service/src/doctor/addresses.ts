/** E-mail addresses that an earlier release stored in another form, where another customer has the same address. */
import type { Pool } from 'pg'
import { addressForm } from '../kernel/fields/email-address.ts'
import { type Finding, findingsOf } from './finding.ts'

/** Rows looked at, and pairs named: the line says of what kind they are, and how many. */
const maxRows = 100_000
const named = 5

interface Stored {
  readonly organization_id: string
  readonly id: string
  readonly email: string
}

/** Null where there are none. They are not merged: which of two customers stays is for their organization to say. */
export async function checkAddresses(pool: Pool): Promise<Finding | null> {
  const { rows } = await pool.query<Stored>(
    `select c.organization_id, c.id, c.email from customers c
       where c.removed_at is null and (octet_length(c.email) <> char_length(c.email)
         or c.email <> lower(c.email) or c.email like '%xn--%') limit ${maxRows}`,
  )
  const others = rows.flatMap((row) => {
    const form = addressForm(row.email)
    return form === null || form === row.email ? [] : [{ ...row, form }]
  })
  const { rows: kept } = await pool.query<Stored>(
    `select c.organization_id, c.id, c.email from unnest($1::uuid[], $2::text[]) as f(organization_id, email)
       join customers c on c.organization_id = f.organization_id and c.email = f.email and c.removed_at is null`,
    [others.map(({ organization_id }) => organization_id), others.map(({ form }) => form)],
  )
  const owners = new Map(kept.map((row) => [`${row.organization_id} ${row.email}`, row.id]))
  const pairs = others.flatMap(({ organization_id, id, form }) => {
    const owner = owners.get(`${organization_id} ${form}`)
    owners.set(`${organization_id} ${form}`, owner ?? id)
    return owner === undefined ? [] : [`${owner} and ${id}`]
  })
  if (pairs.length === 0) return null
  const more = pairs.length > named ? `, and ${pairs.length - named} more` : ''
  return findingsOf('addresses').warning(
    `customers with one e-mail address in two forms: ${pairs.slice(0, named).join(', ')}${more}`,
    'move what one of them has to the other, and delete it or change its email',
  )
}
