/**
 * Trusts the authorities of the system in addition to Node's own, as `serve` and its worker do by NODE_USE_SYSTEM_CA,
 * which has to be set before a process starts. Reading them takes some 50 ms, so only commands that use TLS do. Node
 * before 22.19 cannot.
 */
export function trustSystem(): void {
  if (process.env.NODE_USE_SYSTEM_CA !== undefined) return
  const { getCACertificates, setDefaultCACertificates } = process.getBuiltinModule('node:tls')
  if (typeof setDefaultCACertificates !== 'function') return
  setDefaultCACertificates([...new Set([...getCACertificates('default'), ...getCACertificates('system')])])
}
