import type { Patch } from '../../api/change.ts'
import { answerOf, api } from '../../api/client.ts'
import { shown, type Ticket } from '../desk/objects.ts'

export function readTicket(id: string, signal?: AbortSignal): Promise<Ticket> {
  return answerOf(api.GET('/v1/tickets/{id}', { params: { path: { id } }, signal }))
}

export async function writeTicket(id: string, body: Patch, ifMatch: string): Promise<Ticket> {
  const params = { path: { id }, header: { 'If-Match': ifMatch } }
  return shown(await answerOf(api.PATCH('/v1/tickets/{id}', { params, body })))
}
