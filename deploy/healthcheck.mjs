/**
 * Whether the process of this container serves: exit code 0. A worker that runs alone listens where DESKWIRE_WORKER_PORT says,
 * and without it there is nothing to ask.
 */
const { DESKWIRE_ROLE: role, DESKWIRE_PORT: port = '8080', DESKWIRE_WORKER_PORT: workerPort } = process.env
const asked = role === 'worker' ? workerPort : port
if (asked !== undefined) {
  const { ok } = await fetch(`http://127.0.0.1:${asked}/healthz`, { signal: AbortSignal.timeout(4_000) })
  process.exitCode = ok ? 0 : 1
}
