/** What came of verifying a delivery, as a value to compare. */
import { type Rejection, SignatureError } from '@deskwire/sdk/signature'

type Verdict<T> = { ok: true; event: T } | { ok: false; reason: Rejection; detail: string }

export async function verdictOf<T>(verifying: Promise<T>): Promise<Verdict<T>> {
  try {
    return { ok: true, event: await verifying }
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error
    return { ok: false, reason: error.code, detail: error.message }
  }
}
