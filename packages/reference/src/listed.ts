import type { Task } from './tasks.ts'

/**
 * What is listed, in the order in which a reader meets it: what each is about, and the task that it serves; none, where the pages say
 * the same otherwise.
 */
export const listed: Readonly<Record<string, { readonly task: Task | null; readonly about: string }>> = {
  'guides/webhooks-or-sync.md': {
    task: 'start',
    about: 'What each of them promises, which to take for what, and a program that has both.',
  },
  'guides/moving-in.md': {
    task: 'start',
    about: 'Bring in what another system has, and get everything out again.',
  },
  'guides/clients.md': {
    task: 'start',
    about: 'Generate a client from openapi.json, in Python, Go or TypeScript, and sync with it.',
  },
  'guides/sync.md': {
    task: 'copy',
    about:
      'A copy of customers, tickets or all of it in a store of your own, and the proof that it is right.',
  },
  'guides/mirror.md': {
    task: 'copy',
    about:
      'Tables in PostgreSQL or a file of SQLite that are kept exact by a program of ten lines, to query and to verify.',
  },
  'guides/consumers.md': {
    task: 'copy',
    about: 'What reads Deskwire without a program of yours: dlt, Airbyte, listen --forward-to.',
  },
  'guides/webhooks.md': {
    task: 'webhooks',
    about: 'Register an address, try it, read the log, recover what was missed.',
  },
  'guides/console.md': {
    task: 'webhooks',
    about: 'See how endpoints and deliveries are doing, and send again what was missed, in a browser.',
  },
  'guides/receiving.md': {
    task: 'webhooks',
    about: 'Verify, deduplicate and answer deliveries: complete receivers in TypeScript, Python and Go.',
  },
  'guides/handlers.md': {
    task: 'webhooks',
    about:
      'What at-least-once and unordered mean for the program that does the work, and three ways to write it.',
  },
  'reference/events.md': {
    task: 'webhooks',
    about: 'Every event type: when it is sent, and with what.',
  },
  'reference/webhooks.md': {
    task: 'webhooks',
    about: 'Endpoints, deliveries, attempts and recoveries, field by field.',
  },
  'guides/summaries.md': {
    task: 'desk',
    about: 'Who writes the summary of a resolved conversation: the service, a model, or you.',
  },
  'reference/fields.md': {
    task: 'desk',
    about: 'Every kind of object with its fields, and which events tell of each.',
  },
  'guides/keys.md': {
    task: 'keys',
    about: 'Create keys with few scopes, replace their tokens, revoke them.',
  },
  'reference/keys.md': {
    task: 'keys',
    about: 'API keys and the organization, field by field.',
  },
  'guides/operating.md': {
    task: 'operate',
    about: 'Run an installation: settings, PostgreSQL, workers, backups, upgrades, metrics.',
  },
  'guides/databases.md': {
    task: 'operate',
    about:
      'Organizations spread over several PostgreSQL servers: setting them, adding one, losing one, restoring one.',
  },
  'guides/observing.md': {
    task: 'operate',
    about: 'What to look at, alerts and a dashboard, and OpenTelemetry: from a request to its receivers.',
  },
  'guides/installing.md': {
    task: 'operate',
    about: 'An installation on Debian, step by step: from packages to an upgrade that nobody notices.',
  },
  'guides/deploying.md': {
    task: 'operate',
    about: 'What it runs on: PostgreSQL, its role, poolers.',
  },
  'guides/moving-organizations.md': {
    task: 'operate',
    about: 'Move an organization from one database to another while it works, and even databases out.',
  },
  'reference/settings.md': {
    task: 'operate',
    about: 'Every setting with its default.',
  },
  'reference/commands.md': {
    task: 'operate',
    about: 'The command line: every command with its flags, and what its exit codes mean.',
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
