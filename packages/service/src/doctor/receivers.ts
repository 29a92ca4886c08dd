/** Checks receivers as the sender reaches them: names, addresses, connections and TLS handshakes, without a request. */
import type { Pool } from 'pg'
import { activeByFailure, endpointById } from '../delivery/endpoints-table.ts'
import { createDeadlines } from '../delivery/send/deadlines.ts'
import { dial, trustAuthorities } from '../delivery/send/dial.ts'
import { createResolver, type Resolver } from '../delivery/send/resolver.ts'
import { parseTargetUrl } from '../delivery/send/url.ts'
import { deliveryTuning } from '../delivery/tuning.ts'
import type { Clock } from '../kernel/timestamps.ts'
import type { SendingSettings } from '../roles/delivery-settings.ts'
import { type Finding, findingsOf } from './finding.ts'

/** Failing endpoints first: enough to tell them from a problem of the network. */
const triedAtMost = 20

export interface Receiver {
  readonly id: string
  readonly url: string
}

/** Endpoints of all organizations, failing ones first, then the newest; one per host and port. */
export async function receiversOf(pool: Pool): Promise<readonly Receiver[]> {
  const { rows } = await pool.query<Receiver>(activeByFailure)
  const byOrigin = new Map<string, Receiver>()
  for (const receiver of rows) {
    const { origin } = new URL(receiver.url)
    if (!byOrigin.has(origin)) byOrigin.set(origin, receiver)
  }
  return [...byOrigin.values()].slice(0, triedAtMost)
}

/** The endpoint with this id, in any organization; null when it does not exist. */
export async function receiverOf(pool: Pool, id: string): Promise<Receiver | null> {
  const { rows } = await pool.query<Receiver>(endpointById, [id])
  return rows[0] ?? null
}

/** A name that never exists, so that a name server refuses it at once (RFC 6761, section 6.4). */
const nobody = 'deskwire.invalid'

export async function checkDns(settings: SendingSettings, clock: Clock): Promise<Finding> {
  const finding = findingsOf('dns')
  const { dnsServers, trustedTargets: trusted } = settings
  const resolver = createResolver({ servers: dnsServers, trusted, clock })
  try {
    const timeoutMs = settings.schedule.answerTimeout
    const resolution = await resolver.resolve(nobody, { fresh: true, timeoutMs })
    const whose = dnsServers === null ? "the system's name servers" : dnsServers.join(', ')
    return resolution.outcome === 'failed'
      ? finding.failed(
          resolution.detail,
          `set DESKWIRE_DNS_SERVERS to name servers that resolve names for this machine; asked were ${whose}`,
        )
      : finding.ok(`${whose} answer`)
  } finally {
    resolver.close()
  }
}

/** Tries the receivers concurrently. `asked`: named by the operator, so an unreachable one is a failure. */
export async function checkReceivers(
  receivers: readonly Receiver[],
  { settings, clock, isNamed }: { settings: SendingSettings; clock: Clock; isNamed: boolean },
): Promise<readonly Finding[]> {
  const { schedule, dnsServers, trustedTargets: trusted, targetCa, egressProxy } = settings
  const resolver = createResolver({ servers: dnsServers, trusted, clock })
  const deadlines = createDeadlines(schedule.answerTimeout)
  const secureContext = trustAuthorities(targetCa)
  try {
    return await Promise.all(
      receivers.map(async (receiver) => {
        const finding = findingsOf('endpoint')
        const outcome = await reach(receiver, { resolver, deadlines, secureContext, schedule, egressProxy })
        const what = `${receiver.id} ${new URL(receiver.url).host}: ${outcome.detail}`
        if (outcome.advice === null) return finding.ok(what)
        return isNamed ? finding.failed(what, outcome.advice) : finding.warning(what, outcome.advice)
      }),
    )
  } finally {
    deadlines.close()
    resolver.close()
  }
}

interface Reaching {
  readonly resolver: Resolver
  readonly deadlines: ReturnType<typeof createDeadlines>
  readonly secureContext: ReturnType<typeof trustAuthorities>
  readonly schedule: SendingSettings['schedule']
  readonly egressProxy: SendingSettings['egressProxy']
}

async function reach(
  { url: text }: Receiver,
  { resolver, deadlines, secureContext, schedule, egressProxy }: Reaching,
): Promise<{ readonly detail: string; readonly advice: string | null }> {
  const parsed = parseTargetUrl(text)
  if (!parsed.ok) return { detail: parsed.error.detail, advice: 'register a URL that is accepted' }
  const { hostname, port } = parsed.value
  const { answerTimeout: timeoutMs } = schedule
  const resolution = await resolver.resolve(hostname, { fresh: true, timeoutMs })
  switch (resolution.outcome) {
    case 'not_public':
      return {
        detail: `an address of it is not public (${resolution.block})`,
        advice:
          'if it is yours, add its network to DESKWIRE_TRUSTED_TARGETS; otherwise nothing is sent there',
      }
    case 'no_such_name':
      return {
        detail: resolution.detail,
        advice: 'have its owner fix the name, or the URL, which needs the full name',
      }
    case 'failed':
      return { detail: resolution.detail, advice: 'see dns' }
    case 'addresses':
  }
  const deadline = deadlines.begin()
  const dialled = await dial(
    {
      hostname,
      port: port === '' ? 443 : Number(port),
      addresses: resolution.addresses,
      secureContext,
      addressTimeoutMs: Math.max(10, Math.min(deliveryTuning.sender.perAddress, timeoutMs / 4)),
      doubtful: true,
      // A full handshake, so that the current certificate is checked.
      session: null,
      proxy: egressProxy,
      onSession() {},
    },
    deadline,
    () => {},
  )
  deadlines.end(deadline)
  if (!('kind' in dialled)) {
    const detail = `reached at ${dialled.address}, ${dialled.socket.getProtocol()}`
    dialled.socket.destroy()
    return { detail, advice: null }
  }
  return { detail: dialled.message, advice: adviceOf(dialled.code) }
}

function adviceOf(code: string): string {
  if (code === 'proxy_failed') return 'see whether the proxy in DESKWIRE_EGRESS_PROXY is up, and allows this'
  return code === 'tls_error'
    ? 'have its owner fix the certificate; if an authority of your own has issued it, name that in DESKWIRE_TARGET_CA'
    : 'see whether its host is up, and whether a firewall lets this machine out to it'
}
