/**
 * Whether the process of this container serves: exit code 0. A worker that runs alone listens where DESKWIRE_PORT says,
 * and without it there is nothing to ask.
 */
import { once } from 'node:events'
import { get } from 'node:http'

const { DESKWIRE_ROLE: role, DESKWIRE_PORT } = process.env
// The service ignores the addresses that Kubernetes sets for Services, and takes the default for an empty value.
const port = /^\d+$/.exec(DESKWIRE_PORT)?.[0]
const asked = port ?? (role === 'worker' ? undefined : '8080')
if (asked !== undefined) {
  // fetch refuses some ports, 6000 and 10080 for two, as browsers do.
  const request = get(`http://127.0.0.1:${asked}/healthz`, { signal: AbortSignal.timeout(4_000) })
  const [response] = await once(request, 'response')
  response.resume()
  process.exitCode = response.statusCode === 200 ? 0 : 1
}
