import { Status, Tag, type Tone } from '../../design/status.tsx'
import { sayStatus } from '../desk/objects.ts'

const tones: Readonly<Record<string, Tone>> = { new: 'wait', resolved: 'good', closed: 'good' }

/** New tickets need attention. */
export function TicketStatus({ status }: { readonly status: string }) {
  return <Status tone={tones[status] ?? 'quiet'}>{sayStatus(status)}</Status>
}

const ofPriority: Readonly<Record<string, Tone>> = { urgent: 'bad', high: 'wait' }

/** The normal priority is plain. */
export function Priority({ of }: { readonly of: string }) {
  const tone = ofPriority[of]
  return tone === undefined ? sayStatus(of) : <Tag tone={tone}>{sayStatus(of)}</Tag>
}
