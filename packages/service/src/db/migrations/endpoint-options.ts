/** What endpoints may ask for beyond the baseline: columns that are null, or false, for those that ask for nothing. */
import { buildIndex, type Migration, type PieceOfWork } from '../migration.ts'

/** Replaces a check, and proves it of existing rows without holding writers up. */
function recheck(table: string, name: string, condition: string) {
  const prove: PieceOfWork = async (client) => {
    await client.query(`alter table ${table} validate constraint ${name}`)
    return null
  }
  return {
    prepare: [
      `alter table ${table} drop constraint if exists ${name}`,
      `alter table ${table} add constraint ${name} check (${condition}) not valid`,
    ],
    piece: prove,
  }
}

export const endpointOptions: readonly Migration[] = [
  {
    id: '20261126-02-recover-succeeded',
    statements: [
      'alter table recoveries add column if not exists include_succeeded boolean not null default false',
    ],
  },
  {
    id: '20261126-03-endpoint-options',
    gradually: recheck(
      'webhooks',
      'webhooks_disabled_reason_check',
      "disabled_reason in ('failing', 'address_not_public', 'registrant_revoked', 'manual', 'gone')",
    ),
    statements: [
      'alter table webhooks add column if not exists options jsonb, add column if not exists sealed_headers bytea',
    ],
  },
  {
    id: '20261126-04-asymmetric-signatures',
    gradually: recheck(
      'webhooks',
      'webhooks_signatures_check',
      "signatures in ('{service}', '{service,standard}', '{service,standard,v1a}')",
    ),
    statements: [],
  },
  {
    id: '20261126-05-conditions',
    gradually: recheck(
      'deliveries',
      'deliveries_status_check',
      "status in ('pending', 'succeeded', 'failed', 'skipped')",
    ),
    statements: [
      'alter table fan_outs add column if not exists conditions jsonb',
      'alter table events add column if not exists changed jsonb',
    ],
  },
  {
    id: '20261126-06-causes',
    statements: ['alter table events add column if not exists cause jsonb'],
  },
  {
    id: '20261126-07-own-keys-of-fan-outs',
    statements: ['alter table fan_outs add column if not exists own_key text'],
  },
  {
    id: '20261126-08-subscriptions',
    gradually: {
      prepare: [
        'alter table webhooks add column if not exists subscription_id text, add column if not exists ends_at timestamptz(3)',
      ],
      indexes: buildIndex('webhooks_end', 'webhooks (ends_at) where ends_at is not null'),
    },
    statements: [],
  },
  {
    id: '20261126-09-endpoint-events',
    gradually: {
      prepare: [
        'alter table webhooks add column if not exists reported_state text, add column if not exists reported_since timestamptz(3)',
      ],
      indexes: [
        ...buildIndex(
          'webhooks_reported',
          `webhooks (organization_id, id)
            where reported_state is distinct from case when status = 'disabled' then 'disabled' end`,
        ),
        ...buildIndex(
          'webhook_health_failing',
          'webhook_health (organization_id, webhook_id) where failing_since is not null',
        ),
      ],
    },
    statements: [],
  },
]
