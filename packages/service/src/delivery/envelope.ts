import type { LaneKey, TakenDelivery } from './lanes.ts'

/**
 * The body of a delivery (specification 5.3). `data` is a representation as it is stored: the bytes that the
 * matching GET answers.
 */
export function envelope({ organizationId }: LaneKey, event: TakenDelivery['event'], data: string): string {
  const { id, type, createdAt } = event
  return `{"id":"${id}","type":"${type}","apiVersion":"v1","createdAt":"${createdAt}","organizationId":"${organizationId}","data":${data}}`
}
