/** Names of people, where the key may read them. */
import { Link } from '@tanstack/react-router'
import { CopyText } from '../../design/copy.tsx'
import { Tag } from '../../design/status.tsx'
import { useView } from '../../session/view.ts'
import { nameOf, useCustomers, useTeammates } from './objects.ts'

/** A link to the customer. */
export function CustomerLink({ id }: { readonly id: string | null }) {
  const { shows } = useView()
  const customer = useCustomers([id]).get(id ?? '')
  if (id === null) return <Tag>Deleted</Tag>
  if (customer === undefined) return <CopyText text={id} short />
  if (!shows('/customers')) return nameOf(customer)
  return (
    <Link to="/customers/$id" params={{ id }}>
      {nameOf(customer)}
    </Link>
  )
}

export function TeammateName({ id }: { readonly id: string | null }) {
  const { nameOf: nameOfTeammate } = useTeammates()
  return id === null ? 'Unassigned' : nameOfTeammate(id)
}
