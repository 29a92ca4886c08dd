/** For commands that work on any kind. */
import type {
  BatchAnswer,
  CallOptions,
  Change,
  Client,
  CreateOptions,
  ExportStream,
  Row,
} from '@deskwire/sdk'
import { type Kind, kinds } from '@deskwire/service/kinds'
import { UsageError } from './usage-error.ts'

/** The calls for many rows, which every kind has alike. */
interface Bulk {
  batch(items: readonly object[], options: CreateOptions): Promise<BatchAnswer>
  upsert(items: readonly object[], options: CreateOptions): Promise<BatchAnswer>
  import(items: readonly object[], options: CreateOptions): Promise<BatchAnswer>
  export(options?: CallOptions): ExportStream<Row>
}

/** A kind is known by its name only, so the rows have no types here: the service checks them. */
export function bulkOf(client: Client, { plural }: Kind): Bulk {
  return client[plural as 'customers'] as Bulk
}

/** A change as the API serves it: the row, or the removal record. */
export function recordOf(change: Change<Row>): object {
  if (change.type === 'upsert') return change.row
  const { id, resource, removedAt } = change
  return { object: 'removed', id, resource, removedAt }
}

export const plurals = kinds.map(({ plural }) => plural)

/** The kind of this plural name. @throws UsageError that names those there are. */
export function kindNamed(plural: string): Kind {
  const kind = kinds.find((one) => one.plural === plural)
  if (kind !== undefined) return kind
  throw new UsageError(`there is no kind ${JSON.stringify(plural)}; there are: ${plurals.join(', ')}`)
}
