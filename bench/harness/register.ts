import type { Organization } from './installation.ts'
import type { BenchReceiver } from './receiver.ts'

/** Each on a path of its own. */
export async function register(
  url: string,
  { token }: Organization,
  receiver: BenchReceiver,
  { count, events }: { readonly count: number; readonly events: readonly string[] },
): Promise<void> {
  for (let n = 0; n < count; n++) {
    const response = await fetch(`${url}/v1/webhooks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url: `${receiver.origin}/hook/${n}`, events }),
    })
    if (response.status !== 201) throw new Error(`a webhook was refused: ${await response.text()}`)
  }
}
