import type { Webhook } from '../../api/client.ts'
import { Status, type Tone } from '../../design/status.tsx'

type Health = 'well' | 'failing' | 'disabled' | 'unused'

/** The health of an endpoint in a word. */
export function healthOf({ status, failingSince, lastSuccessAt }: Webhook): Health {
  if (status !== 'active') return 'disabled'
  if (failingSince !== null) return 'failing'
  return lastSuccessAt === null ? 'unused' : 'well'
}

const shown: Readonly<Record<Health, readonly [tone: Tone, words: string]>> = {
  well: ['good', 'Well'],
  failing: ['bad', 'Failing'],
  disabled: ['wait', 'Disabled'],
  unused: ['quiet', 'Nothing sent yet'],
}

export function EndpointStatus({ endpoint }: { readonly endpoint: Webhook }) {
  const [tone, words] = shown[healthOf(endpoint)]
  return <Status tone={tone}>{words}</Status>
}

/** Why an endpoint is disabled, in words. */
export const disabledReasons: Readonly<Record<string, string>> = {
  failing: 'It failed for so long that it was disabled.',
  address_not_public: 'Its address does not lead to the public network any more.',
  registrant_revoked: 'The key that registered it was revoked.',
  manual: 'Somebody disabled it.',
  gone: 'It answered that it is gone (410).',
}
