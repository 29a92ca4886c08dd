/** Replays all failed deliveries, as one recovery an endpoint. */
import { answerOf, api, type Delivery, type Webhook } from '../../api/client.ts'
import { ApiProblem } from '../../api/problem.ts'
import { Confirm } from '../../design/dialog.tsx'
import { Time } from '../../design/time.tsx'
import { say } from '../../design/toasts.tsx'
import { hostOf } from '../endpoints/endpoint-list.ts'

interface RecoverAllProps {
  readonly isOpen: boolean
  readonly close: () => void
  /** The failed deliveries that are shown. */
  readonly failed: readonly Delivery[]
  readonly endpoints: ReadonlyMap<string, Webhook>
}

export function RecoverAll({ isOpen, close, failed, endpoints }: RecoverAllProps) {
  const ids = [...new Set(failed.map(({ webhookId }) => webhookId))]
  const active = ids.filter((id) => endpoints.get(id)?.status === 'active')
  const nameOf = (id: string) => hostOf(endpoints.get(id)?.url) ?? id

  async function recover(): Promise<void> {
    const refused: string[] = []
    let asked = 0
    for (const id of active) {
      const since = endpoints.get(id)?.missedSince
      if (since == null) continue
      try {
        await answerOf(api().webhooks.recover(id, { since }))
        asked++
      } catch (error) {
        if (!(error instanceof ApiProblem)) throw error
        refused.push(`${nameOf(id)}: ${error.message}`)
      }
    }
    if (asked > 0) say(`${asked === 1 ? 'One endpoint gets' : `${asked} endpoints get`} what was missed.`)
    if (refused.length > 0) throw new Error(refused.join(' '))
  }

  return (
    <Confirm
      isOpen={isOpen}
      close={close}
      title="Send all of it again?"
      verb="Send again"
      kind="primary"
      act={recover}
    >
      <p>All undelivered events are sent again, not only those shown here, to:</p>
      <ul>
        {ids.map((id) => (
          <li key={id}>
            {nameOf(id)}
            <Since at={endpoints.get(id)?.missedSince} />
            {!active.includes(id) && ' – not to this one: it is disabled'}
          </li>
        ))}
      </ul>
    </Confirm>
  )
}

function Since({ at }: { readonly at: string | null | undefined }) {
  return (
    at != null && (
      <>
        , since <Time at={at} />
      </>
    )
  )
}
