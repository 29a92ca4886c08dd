import type { Delivery } from '../../api/client.ts'
import { Status, type Tone } from '../../design/status.tsx'
import { Countdown } from '../../design/time.tsx'

const tones: Readonly<Record<string, Tone>> = { succeeded: 'good', failed: 'bad' }
export const statusWords = [
  ['pending', 'Pending'],
  ['succeeded', 'Succeeded'],
  ['failed', 'Failed'],
  ['undelivered', 'Pending or failed'],
  ['skipped', 'Skipped'],
] as const
const words: Readonly<Record<string, string>> = Object.fromEntries(statusWords)

/** With the time of the next attempt, if there is one. */
export function DeliveryStatus({
  delivery: { status, attemptCount, nextAttemptAt },
}: {
  readonly delivery: Delivery
}) {
  if (status !== 'pending') return <Status tone={tones[status] ?? 'quiet'}>{words[status] ?? status}</Status>
  return (
    <Status tone={attemptCount === 0 ? 'quiet' : 'wait'}>
      {attemptCount === 0 || nextAttemptAt === null ? (
        'Pending'
      ) : (
        <span>
          Retry in <Countdown to={nextAttemptAt} />
        </span>
      )}
    </Status>
  )
}
