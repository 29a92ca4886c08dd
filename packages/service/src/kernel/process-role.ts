/** The role of a process. The offload thread is a thread of the API, with its own metrics and telemetry. */
export type ProcessRole = 'api' | 'offload' | 'worker'

/** The value of the label `process` in metrics, and of `deskwire.process` in telemetry. */
export function processLabel(role: ProcessRole): string {
  // Released dashboards and alerts use this name for the offload thread.
  return role === 'offload' ? 'bulk' : role
}
