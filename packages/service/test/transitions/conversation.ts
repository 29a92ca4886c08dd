import { makeConversation, makeMessage } from '../../../testbed/desk.ts'
import { type Cell, type Machine, type Move, must, no, type Stage } from './machine.ts'

const act =
  (action: string, body?: object): Move =>
  ({ api }, id) =>
    api.post(`/v1/conversations/${id}/${action}`, body)
const patch =
  (body: (stage: Stage) => object): Move =>
  (stage, id) =>
    stage.api.patch(`/v1/conversations/${id}`, body(stage))
const resolve = act('resolve')
const summarize = act('summarize', { summary: 'They talked.' })

/** A conversation after these moves. */
const via =
  (handledBy: string, ...moves: readonly Move[]) =>
  async (stage: Stage): Promise<string> => {
    const { id } = await makeConversation(stage.api, { handledBy })
    for (const move of moves) await must(move(stage, id))
    return id
  }

const message =
  (direction: string): Move =>
  async ({ api }, id) => {
    await makeMessage(api, { conversationId: id, direction })
    return api.get(`/v1/conversations/${id}`)
  }

const resolved = (state: string): Cell => `${state}: conversation.resolved`
const reopened = (by: 'human' | 'ai'): Cell => `open ${by}: conversation.reopened`
const summarized = (state: string): Cell => `${state}: conversation.summarized`
const assigned = (state: string, handled: 'by a person' | 'by an AI'): Cell =>
  `${state}: conversation.assigned${handled === 'by an AI' ? ' conversation.escalated' : ''}`

/** Moves that leave the state as it is and have no event. */
const quiet = (state: string) => ({ unassign: `${state}:`, subject: `${state}:`, outbound: `${state}:` })

export const conversation: Machine = {
  kind: 'conversation',
  plural: 'conversations',
  stateOf: ({ status, handledBy, summary, summarizedAt, resolvedAt }) => {
    const consistent =
      (summary === null) === (summarizedAt === null) && (resolvedAt === null) === (status === 'open')
    if (!consistent) return `torn: ${status} ${summary} ${summarizedAt} ${resolvedAt}`
    return `${status} ${handledBy}${summary === null ? '' : ' summarized'}`
  },
  states: {
    'open human': via('human'),
    'open ai': via('ai'),
    'resolved human': via('human', resolve),
    'resolved ai': via('ai', resolve),
    'resolved human summarized': via('human', resolve, summarize),
    'resolved ai summarized': via('ai', resolve, summarize),
  },
  moves: {
    escalate: act('escalate'),
    resolve,
    reopen: act('reopen'),
    summarize,
    'summarize otherwise': act('summarize', { summary: 'They talked, and agreed.' }),
    assign: patch(({ teammateId }) => ({ assigneeId: teammateId })),
    unassign: patch(() => ({ assigneeId: null })),
    subject: patch(() => ({ subject: 'Another subject' })),
    inbound: message('inbound'),
    outbound: message('outbound'),
  },
  table: {
    'open human': {
      escalate: no('open', 'resolve'),
      resolve: resolved('resolved human'),
      reopen: no('open', 'resolve'),
      summarize: no('open', 'resolve'),
      'summarize otherwise': no('open', 'resolve'),
      assign: assigned('open human', 'by a person'),
      inbound: 'open human:',
      ...quiet('open human'),
    },
    'open ai': {
      escalate: 'open human: conversation.escalated',
      resolve: resolved('resolved ai'),
      reopen: no('open', 'escalate', 'resolve'),
      summarize: no('open', 'escalate', 'resolve'),
      'summarize otherwise': no('open', 'escalate', 'resolve'),
      assign: assigned('open human', 'by an AI'),
      inbound: 'open ai:',
      ...quiet('open ai'),
    },
    'resolved human': {
      escalate: no('resolved', 'reopen', 'summarize'),
      resolve: no('resolved', 'reopen', 'summarize'),
      reopen: reopened('human'),
      summarize: summarized('resolved human summarized'),
      'summarize otherwise': summarized('resolved human summarized'),
      assign: assigned('resolved human', 'by a person'),
      inbound: reopened('human'),
      ...quiet('resolved human'),
    },
    'resolved ai': {
      escalate: 'resolved human: conversation.escalated',
      resolve: no('resolved', 'escalate', 'reopen', 'summarize'),
      reopen: reopened('ai'),
      summarize: summarized('resolved ai summarized'),
      'summarize otherwise': summarized('resolved ai summarized'),
      assign: assigned('resolved human', 'by an AI'),
      inbound: reopened('ai'),
      ...quiet('resolved ai'),
    },
    'resolved human summarized': {
      escalate: no('resolved', 'reopen', 'summarize'),
      resolve: no('resolved', 'reopen', 'summarize'),
      reopen: reopened('human'),
      // The same summary once more changes nothing.
      summarize: 'resolved human summarized:',
      'summarize otherwise': summarized('resolved human summarized'),
      assign: assigned('resolved human summarized', 'by a person'),
      inbound: reopened('human'),
      ...quiet('resolved human summarized'),
    },
    'resolved ai summarized': {
      escalate: 'resolved human summarized: conversation.escalated',
      resolve: no('resolved', 'escalate', 'reopen', 'summarize'),
      reopen: reopened('ai'),
      summarize: 'resolved ai summarized:',
      'summarize otherwise': summarized('resolved ai summarized'),
      assign: assigned('resolved human summarized', 'by an AI'),
      inbound: reopened('ai'),
      ...quiet('resolved ai summarized'),
    },
  },
}
