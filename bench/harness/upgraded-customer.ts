/** Customers of a release that shows a field more, so that every row is rewritten. */
import { indexOutdated } from '../../packages/service/src/db/migrations/stream-table.ts'
import { customer } from '../../packages/service/src/desk/customer/index.ts'
import { kinds } from '../../packages/service/src/desk/index.ts'
import type { Kind } from '../../packages/service/src/kinds/model/kind.ts'

const version = customer.table.version + 1

const upgradedCustomer: Kind = {
  ...customer,
  migrations: [
    ...customer.migrations,
    { id: '20991231-01-customers', ...indexOutdated('customers', version) },
  ],
  upgrades: [...customer.upgrades, (shown) => ({ ...shown, company: 'Difference Engines Limited' })],
  table: { ...customer.table, version },
}

/** The desk of that release. */
export const upgradedKinds = kinds.map((kind) => (kind === customer ? upgradedCustomer : kind))
