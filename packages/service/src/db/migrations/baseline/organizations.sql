-- The installation, its organizations, and the clock that every commit of an organization goes by. Every key leads
-- with organization_id, except in the directories, which find the organization of a request, and in the
-- installation's row.

-- One row. Its epoch is the one that organizations begin in: that of the last restore of this database.
create table installation (
  singleton boolean primary key default true check (singleton),
  -- The epoch that organizations begin in. Each has its own; a restore begins another in all of them.
  epoch integer not null,
  -- Tells the installation's encryption key from another. Null: the next key that a process has is taken.
  key_check bytea,
  -- The key before it, while secrets that it seals may be left.
  previous_key_check bytea
);

insert into installation (epoch) values (1);

-- What owns everything else. A suspended organization has its keys refused and its deliveries held; one whose
-- deletion has begun stays suspended. One that is away is served by another database, or by none for a moment.
create table organizations (
  organization_id uuid primary key,
  name text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- Null of both for an active organization. One that is being deleted is suspended as well, and stays so.
  suspended_at timestamptz(3),
  deletion_began_at timestamptz(3),
  -- Null for an organization that this database serves.
  away text check (away in ('arriving', 'moved')),
  moves integer not null default 0,
  prevents_double_booking boolean not null default false,
  check (deletion_began_at is null or suspended_at is not null)
);

-- One row an organization, locked first by every commit, which changes nothing in it: a row that every commit updates
-- gets slower with each while anybody holds a snapshot. last_stamp is the latest stamp given outside of commits, and
-- events_dropped_to the last event that is no longer stored. The epoch changes when the stream may have gone back in
-- time: cursors of another epoch are refused.
create table organization_clocks (
  organization_id uuid primary key references organizations,
  last_stamp timestamptz(3) not null,
  epoch integer not null,
  -- As in organizations: this is the row that every commit reads.
  away text check (away in ('arriving', 'moved')),
  events_dropped_to uuid
);

-- What commits have counted: for each kind that a commit wrote, how many of its objects exist and how many were
-- removed, the bytes of those that exist, the sums of their terms (a digest is one modulo 2^64), and the last number
-- given, all after the commit. The latest of a kind says all; maintenance deletes those before.
create table commits (
  organization_id uuid not null,
  stamp timestamptz(3) not null,
  kind text not null,
  live_count bigint not null,
  removed_count bigint not null,
  stored_bytes bigint not null,
  last_number bigint not null,
  digest numeric not null,
  content_digest numeric not null,
  primary key (organization_id, kind, stamp)
);
create index commits_stamp on commits (organization_id, stamp);

-- The clocks as readers see them.
create view clocks as
  select o.organization_id, o.epoch, o.away, o.events_dropped_to, greatest(o.last_stamp, c.stamp) as last_stamp
    from organization_clocks o
    left join lateral (select k.stamp from commits k where k.organization_id = o.organization_id
      order by k.stamp desc limit 1) c on true;

-- The counters of each kind that has had a row, and of stored responses. The kinds of an organization are found by
-- stepping from one to the next.
create view kind_counters as
  select o.organization_id, k.kind, c.live_count, c.removed_count, c.stored_bytes, c.last_number, c.digest,
      c.content_digest
    from organizations o
    cross join lateral (
      with recursive kinds as (
        (select f.kind from commits f where f.organization_id = o.organization_id order by f.kind limit 1)
        union all
        select (select f.kind from commits f where f.organization_id = o.organization_id and f.kind > k.kind
            order by f.kind limit 1) from kinds k where k.kind is not null)
      select k.kind from kinds k where k.kind is not null) k
    cross join lateral (
      select f.live_count, f.removed_count, f.stored_bytes, f.last_number, f.digest, f.content_digest from commits f
        where f.organization_id = o.organization_id and f.kind between k.kind and k.kind
        order by f.kind desc, f.stamp desc limit 1) c;

-- The span that each restore lost.
create table restores (
  organization_id uuid not null references organizations,
  epoch integer not null,
  -- Stamps after restored_to and up to restored_at are of a past that is lost; no new commit ever has one.
  restored_to timestamptz(3) not null,
  restored_at timestamptz(3) not null,
  primary key (organization_id, epoch),
  check (restored_to <= restored_at)
);
