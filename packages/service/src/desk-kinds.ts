/**
 * The exports for clients that check objects before they send them, as an import does: the kinds, and how an object
 * is parsed. Nothing here needs a database, and `@deskwire/cli` contains what is loaded by it.
 */
export { kinds } from './desk/index.ts'
export { quoted } from './kernel/errors.ts'
export { systemClock } from './kernel/timestamps.ts'
export { parseNew } from './kinds/model/changes.ts'
export { importShape, namedReferences, parseImport } from './kinds/model/imports.ts'
export type { Kind } from './kinds/model/kind.ts'
export { fieldSchema } from './openapi/field-schemas.ts'
