import type { ApiKey } from '../../api/client.ts'
import { Status } from '../../design/status.tsx'
import { Countdown, Time, useNow } from '../../design/time.tsx'

/** Keys that expire sooner need attention. In milliseconds. */
const soon = 14 * 86_400_000

export function KeyStatus({ apiKey: { expiresAt, previousTokenExpiresAt } }: { readonly apiKey: ApiKey }) {
  const now = useNow()
  if (expiresAt !== null && Date.parse(expiresAt) <= now) return <Status tone="bad">Expired</Status>
  if (previousTokenExpiresAt !== null && Date.parse(previousTokenExpiresAt) > now) {
    return (
      <Status tone="wait">
        <span>
          Two tokens for <Countdown to={previousTokenExpiresAt} />
        </span>
      </Status>
    )
  }
  if (expiresAt !== null && Date.parse(expiresAt) - now < soon) {
    return (
      <Status tone="wait">
        <span>
          Expires <Time at={expiresAt} />
        </span>
      </Status>
    )
  }
  return <Status tone="quiet">Active</Status>
}
