/**
 * Where the rows of an account go: a service, or nowhere in a rehearsal, which accepts what the rules of each kind
 * accept.
 */
import type { Client, ItemOutcome } from '@deskwire/sdk'
import { parseImport, systemClock } from '@deskwire/service/kinds'
import { bulkOf } from '../../kinds.ts'
import { faultText } from '../fault.ts'
import { type Json, kindOf } from './account.ts'

export interface Teammate {
  readonly id: string
  readonly name: string
  readonly email: string | null
}

/** What identifies a note that was imported: it has no externalId. */
export interface KnownNote {
  readonly createdAt: string
  readonly author: { readonly type: string; readonly name?: string }
}

export interface Desk {
  teammates(): Promise<readonly Teammate[]>
  import(kind: string, rows: readonly Json[]): Promise<readonly ItemOutcome[]>
  /** The id of the conversation with this externalId; null where there is none. */
  conversation(externalId: string): Promise<string | null>
  notesOf(conversation: string): Promise<readonly KnownNote[]>
  deactivate(teammate: string): Promise<void>
}

export function service(client: Client, signal: AbortSignal): Desk {
  return {
    async teammates() {
      const found: Teammate[] = []
      for await (const { id, name, email } of client.teammates.list({}, { signal }))
        found.push({ id, name, email })
      return found
    },
    async import(kind, rows) {
      return (await bulkOf(client, kindOf(kind)).import(rows, { signal })).data
    },
    async conversation(externalId) {
      const { data } = await client.conversations.list({ externalId }, { signal }).page()
      return data[0]?.id ?? null
    },
    async notesOf(conversation) {
      const notes: KnownNote[] = []
      for await (const note of client.notes.list({ conversationId: conversation }, { signal }))
        notes.push(note)
      return notes
    },
    async deactivate(teammate) {
      await client.teammates.update(teammate, { active: false }, { signal })
    },
  }
}

const nilUuid = '00000000-0000-0000-0000-000000000000'

export const rehearsal: Desk = {
  teammates: async () => [],
  import: async (_, rows) =>
    rows.map((_, index) => ({ index, status: 201, outcome: 'created', id: nilUuid })),
  conversation: async () => null,
  notesOf: async () => [],
  deactivate: async () => {},
}

/**
 * What this release refuses of a row by itself, in one line; null: nothing. Ids stand for what the service looks up.
 */
export function faultOf(kind: string, row: Json): string | null {
  const withIds = Object.entries(row).map(([name, value]) =>
    name.endsWith('ExternalId') ? [name.replace('ExternalId', 'Id'), nilUuid] : [name, value],
  )
  const parsed = parseImport(kindOf(kind), Object.fromEntries(withIds), systemClock)
  return parsed.ok ? null : faultText(parsed.error)
}
