import { Status, type Tone } from '../../design/status.tsx'
import { sayStatus } from '../desk/objects.ts'

const tones: Readonly<Record<string, Tone>> = {
  pending: 'wait',
  confirmed: 'good',
  completed: 'good',
  no_show: 'bad',
}

/** A pending booking waits for a confirmation. */
export function BookingStatus({ status }: { readonly status: string }) {
  return <Status tone={tones[status] ?? 'quiet'}>{sayStatus(status)}</Status>
}
