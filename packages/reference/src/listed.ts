import type { Task } from './tasks.ts'

interface Listed {
  /** Null where other pages say the same. */
  readonly task: Task | null
  readonly about: string
  /** Other words that readers search for. */
  readonly also?: string
}

/** In reading order. */
export const listed: Readonly<Record<string, Listed>> = {
  'guides/quickstart.md': {
    task: 'start',
    about: 'From the first start to a synced ticket and a verified webhook, in ten minutes.',
    also: 'getting started tutorial first call hello world try install walkthrough',
  },
  'guides/webhooks-or-sync.md': {
    task: 'start',
    about: 'What each of them promises, which to use for what, and a program with both.',
    also: 'polling push pull compare choose integration',
  },
  'guides/moving-in.md': {
    task: 'start',
    about: 'Import CSV files or another helpdesk, and export everything.',
    also: 'zendesk intercom freshdesk migrate migration import export excel spreadsheet bulk load csv',
  },
  'guides/clients.md': {
    task: 'start',
    about: 'Generate a client from openapi.json in Python, Go or TypeScript.',
    also: 'swagger openapi codegen sdk java ruby php rust',
  },
  'guides/agents.md': {
    task: 'start',
    about: 'Tools for Claude, Cursor, and your own agents, by the Model Context Protocol.',
    also: 'mcp ai llm claude chatgpt cursor assistant tools bot model context protocol',
  },
  'guides/sync.md': {
    task: 'copy',
    about: 'An exact copy in your own store, and the proof that it is right.',
    also: 'backfill cdc change feed incremental delta etl replicate replication elasticsearch index stream',
  },
  'guides/mirror.md': {
    task: 'copy',
    about: 'Tables in PostgreSQL, SQLite or DuckDB that a command keeps exact.',
    also: 'replica warehouse analytics bi report sql postgres',
  },
  'guides/consumers.md': {
    task: 'copy',
    about: 'Load a warehouse with dlt or Airbyte.',
    also: 'snowflake bigquery redshift databricks etl elt fivetran pipeline',
  },
  'guides/webhooks.md': {
    task: 'webhooks',
    about: 'Register an address, read the log, replay what was missed, rotate secrets.',
    also: 'callback hook notification ssrf resend redeliver retry',
  },
  'guides/choosing.md': {
    task: 'webhooks',
    about: 'Options of endpoints: what is sent, how, and again.',
    also: 'filter conditions headers rate limit throttle thin payload resend overlap options',
  },
  'guides/local-webhooks.md': {
    task: 'webhooks',
    about: 'Receive, cause and break deliveries during development.',
    also: 'ngrok localhost tunnel cloudflared develop development debug local locally test',
  },
  'guides/receiving.md': {
    task: 'webhooks',
    about: 'Verify, deduplicate and answer deliveries, in TypeScript, Python and Go.',
    also: 'hmac signature verify express fastify hono slack lambda cloudflare edge flask django standard webhooks receiver',
  },
  'guides/handlers.md': {
    task: 'webhooks',
    about: 'Write handlers that survive repetition and any order.',
    also: 'exactly once duplicate deduplicate idempotent out of order ordering',
  },
  'guides/console.md': {
    task: 'webhooks',
    about: 'Desk, endpoints and deliveries in a browser; embed them in your product.',
    also: 'dashboard ui admin panel iframe portal embed inbox',
  },
  'reference/events.md': {
    task: 'webhooks',
    about: 'Every event type: when it is sent, and with what.',
  },
  'reference/webhooks.md': {
    task: 'webhooks',
    about: 'Endpoints, deliveries, attempts and recoveries, field by field.',
  },
  'guides/tickets.md': {
    task: 'desk',
    about: 'Create, assign, resolve and close tickets; which state allows which.',
    also: 'status workflow issue case sla assign close state machine custom fields',
  },
  'guides/conversations.md': {
    task: 'desk',
    about: 'Post messages, let an AI answer, and hand over to a person.',
    also: 'chat chatbot bot ai agent human handoff handover takeover escalate inbox thread email whatsapp',
  },
  'guides/bookings.md': {
    task: 'desk',
    about: 'Appointments: times, time zones, moves and states.',
    also: 'appointment calendar schedule scheduling timezone dst daylight saving reschedule cancel',
  },
  'guides/lists.md': {
    task: 'desk',
    about: 'Find objects: filters, what q searches, pages.',
    also: 'query pagination paging search full text offset limit sort order filter',
  },
  'guides/errors.md': {
    task: 'desk',
    about: 'Repeat requests safely, avoid lost updates, read errors.',
    also: 'retry idempotency idempotent conflict 409 412 429 503 etag optimistic locking concurrency problem timeout',
  },
  'guides/summaries.md': {
    task: 'desk',
    about: 'Who writes the summary of a resolved conversation: the service, a model, or you.',
    also: 'llm openai ollama gpt ai summarize prompt injection',
  },
  'reference/fields.md': {
    task: 'desk',
    about: 'Every kind of object with its fields and the events that report each.',
    also: 'schema data model attributes',
  },
  'guides/keys.md': {
    task: 'keys',
    about: 'Create keys with few scopes, rotate their tokens, revoke them.',
    also: 'authentication authorization token bearer scope permission rate limit',
  },
  'guides/tenants.md': {
    task: 'keys',
    about: 'One organization for each of your customers.',
    also: 'multi-tenant multitenancy tenant saas workspace account isolation',
  },
  'reference/keys.md': {
    task: 'keys',
    about: 'API keys and the organization, field by field.',
  },
  'guides/operating.md': {
    task: 'operate',
    about: 'Start, configure and stop an installation; roles of processes.',
    also: 'production run worker scale',
  },
  'guides/deploying.md': {
    task: 'operate',
    about: 'Run it in containers, under systemd or on Kubernetes.',
    also: 'docker podman compose kubernetes k8s helm systemd image cloud aws',
  },
  'guides/installing.md': {
    task: 'operate',
    about: 'A complete installation on Debian.',
    also: 'ubuntu linux vm server apt',
  },
  'guides/proxy.md': {
    task: 'operate',
    about: 'TLS, proxies, CORS and rate limits.',
    also: 'https tls ssl certificate nginx caddy load balancer reverse x-forwarded-for cors browser throttle',
  },
  'guides/postgresql.md': {
    task: 'operate',
    about: 'Embedded, your own or managed; poolers and standbys.',
    also: 'rds aurora cloud sql azure supabase neon postgres pgbouncer pooler replica failover high availability ha standby database',
  },
  'guides/databases.md': {
    task: 'operate',
    about: 'Spread organizations over several PostgreSQL servers.',
    also: 'shard sharding scale partition',
  },
  'guides/moving-organizations.md': {
    task: 'operate',
    about: 'Move an organization between databases while it works.',
    also: 'rebalance shard migrate tenant',
  },
  'guides/organizations.md': {
    task: 'operate',
    about: 'Create, suspend and delete organizations and keys on the command line.',
    also: 'lost key admin cli tenant suspend delete account offboard',
  },
  'guides/deleting-data.md': {
    task: 'operate',
    about: 'What deleting a customer removes, where data remains, and for how long.',
    also: 'gdpr dsgvo ccpa privacy personal data erasure delete erase right to be forgotten retention pii compliance export',
  },
  'guides/encryption-key.md': {
    task: 'operate',
    about: 'Keep, change or replace the key of the signing secrets.',
    also: 'encryption secret rotate kms lost',
  },
  'guides/backup.md': {
    task: 'operate',
    about: 'Back up, restore, and what a restore means for clients.',
    also: 'backup restore dump snapshot disaster recovery point in time pitr rollback pg_dump',
  },
  'guides/upgrading.md': {
    task: 'operate',
    about: 'Upgrade with or without downtime.',
    also: 'update release migration rollout version downgrade rollback zero downtime',
  },
  'guides/capacity.md': {
    task: 'operate',
    about: 'Storage limits, shares, memory and connections.',
    also: 'quota limit memory ram oom noisy neighbour fairness sizing disk',
  },
  'guides/observing.md': {
    task: 'operate',
    about: 'Health, metrics, alerts, a dashboard, logs and traces.',
    also: 'prometheus grafana opentelemetry otel datadog monitoring health check liveness readiness probe tracing logging',
  },
  'guides/troubleshooting.md': {
    task: 'operate',
    about: 'Doctor, common problems, and a test of a deployment.',
    also: 'debug problem not working help doctor diagnose error',
  },
  'reference/settings.md': {
    task: 'operate',
    about: 'Every setting with its default.',
    also: 'configuration environment variable env config',
  },
  'reference/commands.md': {
    task: 'operate',
    about: 'Every command with its flags and exit codes.',
    also: 'cli command line',
  },
  'reference/methods.md': {
    task: 'start',
    about: 'Each call in TypeScript, Python and on the command line.',
    also: 'sdk client method function name python typescript',
  },
  'reference/metrics.md': {
    task: 'operate',
    about: 'Every metric with its labels.',
  },
  'specification.md': {
    task: 'start',
    about: 'What the service does, rule by rule.',
  },
  'reference/errors.md': {
    task: null,
    about: 'Every error code, in one table.',
  },
  'glossary.md': {
    task: 'start',
    about: 'One word for each thing.',
  },
}
