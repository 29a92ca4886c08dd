/** People by their names, where the key may know these. */
import { Link } from '@tanstack/react-router'
import { CopyText } from '../../design/copy.tsx'
import { Tag } from '../../design/status.tsx'
import { nameOf, useCustomers, useTeammates } from './objects.ts'

/** Whose something is: a link to them. */
export function CustomerLink({ id }: { readonly id: string | null }) {
  const customer = useCustomers([id]).get(id ?? '')
  if (id === null) return <Tag>deleted</Tag>
  if (customer === undefined) return <CopyText text={id} short />
  return (
    <Link to="/customers/$id" params={{ id }}>
      {nameOf(customer)}
    </Link>
  )
}

export function TeammateName({ id }: { readonly id: string | null }) {
  const { nameOf: nameOfTeammate } = useTeammates()
  return id === null ? 'Nobody' : nameOfTeammate(id)
}
