/** What a process of the service does. The offload thread is a thread of the API with metrics and telemetry of its own. */
export type ProcessRole = 'api' | 'offload' | 'worker'

/** The value of the label `process` in metrics, and of `deskwire.process` in telemetry. */
export function processLabel(role: ProcessRole): string {
  // Released dashboards and alerts name the offload thread so.
  return role === 'offload' ? 'bulk' : role
}
