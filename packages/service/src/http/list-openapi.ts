/** The parameters that `list-parameters.ts` reads, for the document. */
import { type Parameter, query } from '../openapi/part.ts'
import { defaultLimit, maximumLimit } from './list-parameters.ts'

const time = { type: 'string', format: 'date-time' }

/** The page that a list shows. */
export const pageParameters: readonly Parameter[] = [
  query(
    'limit',
    { type: 'integer', minimum: 1, default: defaultLimit },
    `Rows a page; above ${maximumLimit} is served as ${maximumLimit}.`,
  ),
  query(
    'offset',
    { type: 'integer', minimum: 0, default: 0 },
    'Rows to pass over. For browsing only: rows move between pages while data changes.',
  ),
]

export const createdParameters: readonly Parameter[] = [
  query('createdAfter', time, 'Created later than this, exclusive.'),
  query('createdBefore', time, 'Created earlier than this, exclusive.'),
]
