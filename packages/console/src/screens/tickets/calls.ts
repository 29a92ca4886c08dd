import type { Patch } from '../../api/change.ts'
import { answerOf, api } from '../../api/client.ts'
import type { Ticket } from '../desk/objects.ts'

export function readTicket(id: string, signal?: AbortSignal): Promise<Ticket> {
  return answerOf(api().tickets.get(id, { signal }))
}

export async function writeTicket(id: string, body: Patch, ifMatch: string): Promise<Ticket> {
  return await answerOf(api().tickets.update(id, body, { ifMatch }))
}
