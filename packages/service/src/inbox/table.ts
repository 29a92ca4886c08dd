/** A row for each open conversation, with the time since when its customer waits (specification 6.5): inbox.sql. */
import { readStatements } from '../db/sql-file.ts'

const files = [
  './inbox.sql',
  './inbox-since.sql',
  './inbox-conversation.sql',
  './inbox-message.sql',
  './inbox-removed-messages.sql',
  './inbox-triggers.sql',
] as const

export const inboxTable: readonly string[] = files.flatMap((file) => readStatements(import.meta.url, file))
