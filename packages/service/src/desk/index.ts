/** The kinds of the desk, each after those that it refers to. CONTRIBUTING.md says how to add one. */
import type { Kind } from '../kinds/model/kind.ts'
import { booking } from './booking/index.ts'
import { conversation } from './conversation/index.ts'
import { customer } from './customer/index.ts'
import { message } from './message/index.ts'
import { note } from './note/index.ts'
import { teammate } from './teammate/index.ts'
import { ticket } from './ticket/index.ts'

export const kinds: readonly Kind[] = [teammate, customer, conversation, message, note, ticket, booking]
