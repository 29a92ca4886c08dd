/**
 * All metrics of the service. Instruments take name, help, labels and buckets from here; reference, dashboard and
 * alerts are generated from it. Each series also has the label `process`, and with several databases `database`. No
 * label names an organization, an endpoint or an id.
 */

interface Described {
  readonly help: string
  /** Reported by the API, a worker, each of them and the offload thread, or any, with the same value (`database`). */
  readonly of: 'api' | 'worker' | 'each' | 'database'
  /** Default: none. */
  readonly labels?: readonly string[]
  /** One per process: without the label `database`. */
  readonly ofAllDatabases?: true
}
export type Figure = Described &
  (
    | { readonly type: 'counter' | 'gauge' }
    | { readonly type: 'histogram'; readonly buckets: readonly number[] }
  )

const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60]
const commitBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30]
const statementWaitBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 20]
/** Seconds. An attempt times out after ten by default. */
const attemptBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60]
/** Seconds: milliseconds for a healthy endpoint, hours after a worker was down. */
const delayBuckets = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 15, 60, 300, 1_800, 7_200]
const groupBuckets = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]

/** The highest count that the database computes; the gauge then stays there. */
export const countedAtMost = 100_000

export const catalogue = {
  deskwire_build_info: {
    type: 'gauge',
    of: 'each',
    labels: ['version', 'commit', 'node'],
    ofAllDatabases: true,
    help: 'Which release runs, built from which commit, on which Node: always 1',
  },
  deskwire_http_request_duration_seconds: {
    type: 'histogram',
    of: 'api',
    labels: ['method', 'route', 'status'],
    ofAllDatabases: true,
    buckets: requestBuckets,
    help: 'From the arrival of a request to the end of its answer, by class of status',
  },
  deskwire_http_requests_under_way: {
    type: 'gauge',
    of: 'api',
    ofAllDatabases: true,
    help: 'Requests under way, without those that wait for changes',
  },
  deskwire_http_requests_waiting: {
    type: 'gauge',
    of: 'api',
    ofAllDatabases: true,
    help: 'Requests that wait for others of their organization, for memory, or for the offload thread',
  },
  deskwire_http_memory_bytes: {
    type: 'gauge',
    of: 'api',
    ofAllDatabases: true,
    help: 'Bytes reserved for large bodies and responses of requests under way',
  },
  deskwire_share_refusals_total: {
    type: 'counter',
    of: 'api',
    labels: ['of', 'reason'],
    ofAllDatabases: true,
    help: 'Requests refused beyond a limit: which limit, and whether the organization had its share (own_share) or all was taken (all_taken)',
  },
  deskwire_stream_commit_duration_seconds: {
    type: 'histogram',
    of: 'api',
    buckets: commitBuckets,
    help: 'One call of the commit function, which commits a group of changes',
  },
  deskwire_stream_commit_group_size: {
    type: 'histogram',
    of: 'api',
    buckets: groupBuckets,
    help: 'Changes that were committed together by one call, those of bulk requests counted as one',
  },
  deskwire_stream_changes_pending: {
    type: 'gauge',
    of: 'api',
    ofAllDatabases: true,
    help: "Changes that wait for their organization's turn to commit, or are being committed",
  },
  deskwire_stream_lead_seconds: {
    type: 'gauge',
    of: 'api',
    help: "How far stamps of the last minute or two were ahead of the database's clock at most",
  },
  deskwire_statements_under_way: {
    type: 'gauge',
    of: 'api',
    help: 'Statements of organizations that have a connection',
  },
  deskwire_statements_waiting: {
    type: 'gauge',
    of: 'api',
    help: 'Statements that wait for a connection',
  },
  deskwire_statement_wait_seconds: {
    type: 'histogram',
    of: 'api',
    buckets: statementWaitBuckets,
    help: "How long statements waited that found their organization's share of the connections in use",
  },
  deskwire_database_answers: {
    type: 'gauge',
    of: 'api',
    help: 'Whether the database answers, 1 or 0, as it was at most a second ago',
  },
  deskwire_log_partitions_missing: {
    type: 'gauge',
    of: 'database',
    help: 'Partitions of the log, of this week and the next two, that are not there',
  },
  deskwire_maintenance_failed: {
    type: 'gauge',
    of: 'database',
    labels: ['step'],
    help: 'Whether a step of maintenance failed in its last run in this process, 1 or 0',
  },
  deskwire_database_connections: {
    type: 'gauge',
    of: 'each',
    labels: ['pool', 'state'],
    help: 'Connections of a pool that are open, idle or used',
  },
  deskwire_database_connections_max: {
    type: 'gauge',
    of: 'each',
    labels: ['pool'],
    help: 'Connections that a pool may have',
  },
  deskwire_database_connections_waiting: {
    type: 'gauge',
    of: 'each',
    labels: ['pool'],
    help: 'Requests for a connection of a pool that wait for one',
  },
  deskwire_delivery_attempts_total: {
    type: 'counter',
    of: 'worker',
    labels: ['outcome'],
    help: 'Attempts made, by outcome: succeeded, or the code of the delivery log',
  },
  deskwire_delivery_attempt_duration_seconds: {
    type: 'histogram',
    of: 'worker',
    labels: ['result'],
    buckets: attemptBuckets,
    help: 'From resolving the name to the headers of the answer, or to the failure',
  },
  deskwire_delivery_first_attempt_delay_seconds: {
    type: 'histogram',
    of: 'worker',
    buckets: delayBuckets,
    help: 'From when a delivery was made, by a commit, a ping or a recovery, to its first attempt; from its retry, if none was made before',
  },
  deskwire_delivery_attempts_in_flight: {
    type: 'gauge',
    of: 'worker',
    ofAllDatabases: true,
    help: 'Attempts under way',
  },
  deskwire_webhooks_disabled_total: {
    type: 'counter',
    of: 'worker',
    labels: ['reason'],
    help: 'Endpoints that workers have disabled, after an attempt or as a key expired, by reason',
  },
  deskwire_deliveries_due: {
    type: 'gauge',
    of: 'database',
    help: `Deliveries that are due, without those of deleted endpoints and suspended organizations, counted up to ${countedAtMost}`,
  },
  deskwire_delivery_oldest_due_seconds: {
    type: 'gauge',
    of: 'database',
    help: 'For how long the delivery that waits longest has been due',
  },
  deskwire_delivery_queues_due: {
    type: 'gauge',
    of: 'database',
    help: 'Endpoints with deliveries that are due',
  },
  deskwire_delivery_queues_leased: {
    type: 'gauge',
    of: 'database',
    help: 'Endpoints that a worker is sending to',
  },
  deskwire_webhooks_active: {
    type: 'gauge',
    of: 'database',
    help: 'Endpoints that are active',
  },
  deskwire_webhooks_disabled: {
    type: 'gauge',
    of: 'database',
    help: 'Endpoints that are disabled',
  },
  deskwire_organization_rows_largest: {
    type: 'gauge',
    of: 'database',
    labels: ['rank'],
    help: 'Existing rows of the organizations that have most, by rank',
  },
  deskwire_organization_bytes_largest: {
    type: 'gauge',
    of: 'database',
    labels: ['rank'],
    help: 'Bytes of representations of the organizations that have most, by rank',
  },
  deskwire_organization_removed_largest: {
    type: 'gauge',
    of: 'database',
    labels: ['rank'],
    help: 'Removal records of the organizations that have most, by rank',
  },
  deskwire_organization_log_largest: {
    type: 'gauge',
    of: 'database',
    labels: ['rank'],
    help: "Events, deliveries and attempts of the organizations that have most, by rank: estimated from the planner's statistics",
  },
  deskwire_rows_outdated: {
    type: 'gauge',
    of: 'database',
    labels: ['kind'],
    help: `Rows that show an earlier version of their kind and are still to be upgraded, counted up to ${countedAtMost}`,
  },
  deskwire_event_loop_delay_p99_seconds: {
    type: 'gauge',
    of: 'each',
    ofAllDatabases: true,
    help: 'How long the event loop was held at a time in the last minute or two, but for one in a hundred',
  },
  deskwire_event_loop_delay_max_seconds: {
    type: 'gauge',
    of: 'each',
    ofAllDatabases: true,
    help: 'The longest that the event loop was held in one piece in the last minute or two',
  },
  deskwire_event_loop_utilization: {
    type: 'gauge',
    of: 'each',
    ofAllDatabases: true,
    help: 'The part of the time that the event loop was at work, from 0 to 1, since the figures were made before',
  },
} as const satisfies Readonly<Record<`deskwire_${string}`, Figure>>

type FigureName = keyof typeof catalogue
export type NameOf<Type extends Figure['type']> = {
  [Name in FigureName]: (typeof catalogue)[Name]['type'] extends Type ? Name : never
}[FigureName]
export type LabelsOf<Name extends FigureName> = (typeof catalogue)[Name] extends {
  readonly labels: readonly (infer Label extends string)[]
}
  ? Label
  : never
