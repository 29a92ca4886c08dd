/**
 * The base images of `deploy/`, made from Debian packages and the checkout's Node, for machines without an image
 * registry. Existing images are kept.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const debian = 'docker.io/library/debian:bookworm-slim'
const node = 'docker.io/library/node:26-bookworm-slim'
const postgres = 'docker.io/library/postgres:18'
const caddy = 'docker.io/library/caddy:2'

/** The part of the entrypoint that our files use. PostgreSQL is Debian's, of another release. */
const postgresEntrypoint = `#!/bin/sh
set -e
PATH=$(echo /usr/lib/postgresql/*/bin):$PATH
PGDATA=/var/lib/postgresql/data
if [ "$(id -u)" = 0 ]; then
  install -d -o postgres -g postgres -m 0700 "$PGDATA"
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0"
fi
if [ ! -e "$PGDATA/PG_VERSION" ]; then
  echo "$POSTGRES_PASSWORD" > /tmp/password
  initdb -D "$PGDATA" -U "$POSTGRES_USER" --pwfile=/tmp/password --auth-host=scram-sha-256 > /dev/null
  rm /tmp/password
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  echo "create database $POSTGRES_USER" | postgres --single -D "$PGDATA" postgres > /dev/null
fi
exec postgres -D "$PGDATA" -c listen_addresses='*'
`

/** How each is made in a container of Debian. */
const recipes: Readonly<Record<string, (container: string) => readonly string[]>> = {
  [node](container) {
    const npm = dirname(dirname(realpathSync(run('sh', ['-c', 'command -v npm']))))
    run('buildah', ['copy', '--quiet', container, process.execPath, '/usr/local/bin/node'])
    run('buildah', ['copy', '--quiet', container, npm, '/usr/local/lib/node_modules/npm'])
    install(container, 'libatomic1')
    inside(
      container,
      'cd /usr/local/bin && for name in npm npx; do ln -s ../lib/node_modules/npm/bin/$name-cli.js $name; done',
    )
    return []
  },
  [postgres](container) {
    install(container, 'postgresql')
    const scratch = mkdtempSync(join(tmpdir(), 'deskwire-postgres-'))
    const script = join(scratch, 'entrypoint')
    writeFileSync(script, postgresEntrypoint)
    run('buildah', ['copy', '--quiet', '--chmod=755', container, script, '/usr/local/bin/entrypoint'])
    rmSync(scratch, { recursive: true })
    inside(container, 'ln -s /usr/lib/postgresql/*/bin/pg_isready /usr/local/bin/')
    return ['--entrypoint=["/usr/local/bin/entrypoint"]', '--volume=/var/lib/postgresql']
  },
  [caddy](container) {
    install(container, 'caddy')
    const command = ['caddy', 'run', '--config', '/etc/caddy/Caddyfile', '--adapter', 'caddyfile']
    return ['--env=XDG_CONFIG_HOME=/config', '--env=XDG_DATA_HOME=/data', `--cmd=${command.join(' ')}`]
  },
}

/** Returns the names of those that were made. */
export function provideBaseImages(): readonly string[] {
  const made = [debian, ...Object.keys(recipes)].filter((image) => !exists(image))
  if (made.includes(debian)) {
    const scratch = mkdtempSync(join(tmpdir(), 'deskwire-debian-'))
    const archive = join(scratch, 'debian.tar')
    run('mmdebstrap', ['--quiet', '--variant=minbase', 'bookworm', archive])
    run('podman', ['import', '--quiet', archive, debian])
    rmSync(scratch, { recursive: true })
  }
  for (const [image, make] of Object.entries(recipes)) {
    if (!made.includes(image)) continue
    const container = run('buildah', ['from', debian])
    const config = make(container)
    if (config.length > 0) run('buildah', ['config', ...config, container])
    run('buildah', ['commit', '--quiet', container, image])
    run('buildah', ['rm', container])
  }
  return made
}

function run(program: string, args: readonly string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
}

function inside(container: string, script: string): void {
  run('buildah', ['run', '--isolation=chroot', '--network=host', container, 'sh', '-c', script])
}

function install(container: string, packages: string): void {
  inside(
    container,
    `apt-get -qq update && apt-get -qq install --no-install-recommends ${packages} > /dev/null`,
  )
}

function exists(image: string): boolean {
  try {
    execFileSync('podman', ['image', 'exists', image])
    return true
  } catch {
    return false
  }
}
