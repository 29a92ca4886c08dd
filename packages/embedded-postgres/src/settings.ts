// The server's settings, for one small machine (two cores) shared with the program that embeds it. The files are
// written at each start; an operator's own settings go into local.conf beside them and win.
import { createHash } from 'node:crypto'
import type { NamedHost } from './host.ts'

export type ServerFiles = Readonly<Record<'postgresql.conf' | 'pg_hba.conf' | 'pg_ident.conf', string>>

/**
 * The role that owns the cluster, for maintenance by the host's account. The host itself connects as the role of its
 * name.
 */
export const ADMIN_ROLE = 'postgres'
/** Only part of the socket's name: the server listens on no network address. */
export const PORT = 5432

const SETTINGS: readonly (readonly [name: string, value: string, reason: string])[] = [
  ['listen_addresses', "''", 'reached through a private socket only'],
  ['port', String(PORT), 'part of the socket file name'],
  ['unix_socket_permissions', '0600', 'the directory is private as well'],
  ['max_connections', '100', 'several processes with a pool each, and room for tools'],

  ['fsync', 'on', 'an acknowledged change survives a power cut'],
  ['synchronous_commit', 'on', 'likewise'],
  ['full_page_writes', 'on', 'likewise, for pages torn by it'],
  ['wal_compression', 'on', 'full pages are most of the log after a checkpoint; their compression is cheap'],
  ['wal_buffers', '16MB', 'a batch of commits fits'],
  ['min_wal_size', '256MB', 'files are reused instead of made'],
  ['max_wal_size', '2GB', 'checkpoints by time, not by bursts; bounds disk use and recovery time'],
  ['checkpoint_timeout', '10min', 'fewer full pages in the log, recovery still short'],
  ['checkpoint_completion_target', '0.9', 'writes are spread, so commits keep their pace'],

  ['shared_buffers', '256MB', 'the hot tables fit, and a 1 GB machine still has room'],
  ['huge_pages', 'try', 'used where the machine has them'],
  ['effective_cache_size', '1GB', 'what the planner may expect of the page cache'],
  ['work_mem', '8MB', 'pages of a list are small; 100 connections cannot exhaust the machine'],
  ['maintenance_work_mem', '64MB', 'vacuum and index builds in one pass on tables of this size'],
  ['random_page_cost', '1.1', 'solid state disks, mostly cached'],
  ['jit', 'off', 'statements are short; compiling them costs more than it saves'],
  ['max_parallel_workers_per_gather', '0', 'the cores are busy with other requests'],
  ['max_parallel_maintenance_workers', '0', 'likewise, and containers give little /dev/shm'],
  ['max_logical_replication_workers', '0', 'not used: one process less'],

  ['autovacuum_naptime', '10s', 'queue tables turn over within seconds'],
  ['autovacuum_max_workers', '2', 'as many as cores'],
  ['autovacuum_vacuum_threshold', '200', 'small hot tables are vacuumed while small'],
  ['autovacuum_vacuum_scale_factor', '0.05', 'likewise, as they grow'],
  ['autovacuum_analyze_scale_factor', '0.05', 'plans follow the queue'],
  ['autovacuum_vacuum_cost_limit', '1000', 'vacuum keeps up with the writes'],

  ['idle_in_transaction_session_timeout', '60s', 'a forgotten transaction keeps vacuum from its work'],
  ['client_connection_check_interval', '5s', 'a killed client does not keep its query running'],

  ['timezone', "'UTC'", 'times mean the same everywhere'],
  ['datestyle', "'ISO, MDY'", 'the form the driver reads'],
  ['lc_messages', "'C'", 'messages that programs can tell apart'],
  ['default_text_search_config', "'pg_catalog.english'", 'as created'],

  ['logging_collector', 'on', 'the log outlives the process that started the server'],
  ['log_directory', "'log'", 'in the cluster'],
  ['log_filename', "'postgresql-%a.log'", 'one file a weekday'],
  ['log_truncate_on_rotation', 'on', 'and last week is overwritten: bounded'],
  ['log_rotation_age', '1d', 'likewise'],
  ['log_rotation_size', '0', 'likewise'],
  ['log_timezone', "'UTC'", 'as programs log'],
  ['log_line_prefix', "'%m [%p] %a '", 'when, who'],
  ['log_min_error_statement', 'panic', 'statements and their values are not for logs'],
  ['log_error_verbosity', 'terse', 'likewise: details quote rows'],
  ['log_checkpoints', 'off', 'keeps the log small'],
]

/** `account`: the operating system account that may connect. */
export function serverFiles({ name: role, words }: NamedHost, account: string): ServerFiles {
  const settings = SETTINGS.map(([name, value, reason]) => `${name} = ${value}  # ${reason}`)
  const name = `"${account.replaceAll('"', '""')}"`
  return {
    'postgresql.conf': [
      `# Written by ${words.program} at each start: put settings of your own into local.conf beside this file.`,
      ...settings,
      "include_if_exists = 'local.conf'",
      '',
    ].join('\n'),
    // The kernel says who connects, so there is no password to keep, leak or rotate.
    'pg_hba.conf': [
      `# Written by ${words.program} at each start.`,
      `local all all peer map=${role}`,
      `local replication all peer map=${role}`,
      '',
    ].join('\n'),
    'pg_ident.conf': [
      `# Written by ${words.program} at each start.`,
      `${role} ${name} ${role}`,
      `${role} ${name} ${ADMIN_ROLE}`,
      '',
    ].join('\n'),
  }
}

/** A running server with the same fingerprint may be adopted. */
export function fingerprint(files: ServerFiles, program: string, version: string): string {
  return createHash('sha256').update(JSON.stringify({ files, program, version })).digest('hex')
}
