/** The checks that take longer, or need more, than `npm test` may. `npm run check` lists and runs them. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

interface Need {
  isMet(): boolean
  /** What to do where it is not met. */
  readonly remedy: string
  /** Packages of Debian and Ubuntu. */
  readonly packages?: readonly string[]
}

export interface Check {
  readonly shows: string
  /** The file that Node runs, from the root, and its arguments. */
  readonly program: readonly [file: string, ...args: string[]]
  readonly needs: readonly Need[]
  /** Minutes on two cores. */
  readonly minutes: number
  /** In continuous integration for each push or each night; by hand before a release, or for a given file. */
  readonly when: 'push' | 'night' | 'release' | 'file'
}

const chromium: Need = {
  isMet: () => isNamedBy('CHROMIUM_PATH') ?? isOnPath('chromium', 'chromium-browser', 'google-chrome'),
  remedy: 'install chromium, or set CHROMIUM_PATH to its path',
}
const python: Need = {
  isMet: () => succeeds('python3', '-c', 'import sys, venv; sys.exit(sys.version_info < (3, 11))'),
  remedy: 'install Python 3.11 or later with its venv module',
  packages: ['python3-venv'],
}
const go: Need = { isMet: () => isOnPath('go'), remedy: 'install Go 1.24 or later', packages: ['golang-go'] }
const promtool: Need = {
  isMet: () => isNamedBy('PROMTOOL') ?? isOnPath('promtool'),
  remedy: 'install prometheus, which has promtool, or set PROMTOOL to its path',
  packages: ['prometheus'],
}
const postgres: Need = {
  isMet: () => isNamedBy('PG_BIN') ?? existsSync('/usr/lib/postgresql'),
  remedy: "install Debian's postgresql, or set PG_BIN to the directory of its programs",
  packages: ['postgresql'],
}
const plpgsqlCheck: Need = {
  isMet: () =>
    succeeds(
      'sh',
      '-c',
      'bin=$PG_BIN; test -n "$bin" || bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1); test -e "$("$bin/pg_config" --sharedir)/extension/plpgsql_check.control"',
    ),
  remedy: 'install the extension plpgsql_check, in Debian postgresql-VERSION-plpgsql-check',
  packages: ['postgresql-.*-plpgsql-check'],
}
const namespaces: Need = {
  isMet: () =>
    succeeds('sh', '-c', '$(test "$(id -u)" = 0 || echo sudo -n) unshare --mount --pid --fork true'),
  remedy: 'be root, or have sudo without a password, where mount namespaces are permitted',
}
const ip: Need = { isMet: () => isOnPath('ip'), remedy: 'install iproute2', packages: ['iproute2'] }
const pgbouncer = program('pgbouncer')
const nginx = program('nginx')
const caddy = program('caddy')
const helm: Need = {
  isMet: () => isOnPath('helm'),
  remedy: 'go install helm.sh/helm/v3/cmd/helm@v3.19.0',
}
const kubeconform: Need = {
  isMet: () => isOnPath('kubeconform'),
  remedy: 'go install github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0',
}
const podman: Need = {
  isMet: () =>
    process.getuid?.() === 0 &&
    ['podman', 'buildah', 'podman-compose', 'mmdebstrap'].every((name) => isOnPath(name)),
  remedy: 'be root, and install podman, buildah, podman-compose, netavark, aardvark-dns and mmdebstrap',
}
const cgroups: Need = {
  isMet: () => existsSync('/sys/fs/cgroup/cgroup.controllers') || process.env.CONTAINERS_CONF !== undefined,
  remedy:
    'boot with control groups of version 2 alone, or name a runtime that needs none in CONTAINERS_CONF and set BUILDAH_ISOLATION=chroot',
}
const image: Need = {
  isMet: () => succeeds('podman', 'image', 'exists', 'localhost/deskwire'),
  remedy: 'run the check "image" before',
}
const history: Need = {
  isMet: () => succeeds('git', 'rev-parse', '--verify', '--quiet', 'HEAD~100'),
  remedy: 'fetch the whole history: git fetch --unshallow',
}
let isReached: boolean | undefined
const registries: Need = {
  isMet: () => {
    isReached ??= succeeds('npm', 'view', 'npm', 'version')
    return isReached
  },
  remedy: 'connect the machine to the registries of npm, PyPI and Go',
}

/** In order: a check comes after those that it needs. */
export const checks: Readonly<Record<string, Check>> = {
  rules: {
    shows: 'promtool accepts the alerts and the recorded rules, and their unit tests pass',
    program: ['checks/rules.ts'],
    needs: [promtool],
    minutes: 1,
    when: 'push',
  },
  sql: {
    shows: 'plpgsql_check finds nothing wrong with the functions of a migrated database',
    program: ['checks/sql.ts'],
    needs: [postgres, plpgsqlCheck],
    minutes: 1,
    when: 'push',
  },
  agents: {
    shows: 'a scripted agent does ten tasks by the tools of /mcp, which conforms to the protocol',
    program: ['checks/agents.ts'],
    needs: [registries],
    minutes: 1,
    when: 'push',
  },
  'lint-api': {
    shows: 'Redocly CLI and Spectral find nothing wrong with openapi.json',
    program: ['checks/lint-api.ts'],
    needs: [registries],
    minutes: 1,
    when: 'push',
  },
  linters: {
    shows: 'zizmor, gitleaks, squawk and oasdiff find nothing in workflow, history, schema and API',
    program: ['checks/linters.ts'],
    needs: [python, go, history, registries],
    minutes: 3,
    when: 'push',
  },
  console: {
    shows: 'every screen of the console and every sort of page below /docs is whole in Chromium',
    program: ['node_modules/vitest/vitest.mjs', 'run', '--mode', 'console'],
    needs: [chromium],
    minutes: 10,
    when: 'night',
  },
  plans: {
    shows: 'every filter of every list uses an index at 100,000 rows of each kind',
    program: ['node_modules/vitest/vitest.mjs', 'run', '--mode', 'plans'],
    needs: [],
    minutes: 2,
    when: 'night',
  },
  faults: {
    shows: 'tests notice each of the faults that are planted in the SQL of a commit, one after another',
    program: ['checks/faults.ts'],
    needs: [],
    minutes: 30,
    when: 'night',
  },
  search: {
    shows:
      'q finds what people type for names, telephone numbers and Japanese texts of others, and nothing else',
    program: ['checks/search.ts'],
    needs: [registries],
    minutes: 2,
    when: 'night',
  },
  corpora: {
    shows: 'inputs that others collected come back as they went in, or are refused in words, at every door',
    program: ['checks/corpora.ts'],
    needs: [chromium, registries],
    minutes: 15,
    when: 'night',
  },
  fuzz: {
    shows:
      'no call that schemathesis makes up ends in a 5xx or in a response that openapi.json does not have',
    program: ['checks/fuzz.ts'],
    needs: [python, registries],
    minutes: 10,
    when: 'night',
  },
  generators: {
    shows: 'clients that five generators make of openapi.json compile, and sync to the end',
    program: ['checks/generators.ts'],
    needs: [python, go, registries],
    minutes: 3,
    when: 'night',
  },
  verifiers: {
    shows: 'the libraries of Standard Webhooks in Python and Go accept what Deskwire signs',
    program: ['checks/verifiers.ts'],
    needs: [python, go, registries],
    minutes: 1,
    when: 'night',
  },
  consumers: {
    shows: 'the dlt source and the Airbyte source of the guide keep exact copies',
    program: ['checks/consumers.ts'],
    needs: [python, registries],
    minutes: 3,
    when: 'night',
  },
  warehouse: {
    shows: 'the guide on mirrors feeds dbt from DuckDB, and an S3-compatible store from exports',
    program: ['checks/warehouse.ts'],
    needs: [python, registries],
    minutes: 2,
    when: 'night',
  },
  python: {
    shows: 'the Python SDK is typed, and its calls, copies and receivers work against a running service',
    program: ['checks/python.ts'],
    needs: [python, registries],
    minutes: 2,
    when: 'night',
  },
  collector: {
    shows: 'a collector of others takes the traces and metrics that are exported over OTLP',
    program: ['checks/collector.ts'],
    needs: [python, registries],
    minutes: 1,
    when: 'night',
  },
  packages: {
    shows:
      'the tarballs install, compile and run under each release of Node and TypeScript, in Bun, Deno and Workers',
    program: ['checks/packages.ts'],
    needs: [registries],
    minutes: 5,
    when: 'night',
  },
  clients: {
    shows: 'what the SDK does and costs next to clients of others',
    program: ['checks/clients.ts'],
    needs: [registries],
    minutes: 2,
    when: 'release',
  },
  machines: {
    shows: 'npm ci && npm start works, or names the cause, on machines as people have them',
    program: ['checks/machines.ts'],
    needs: [namespaces, ip, registries],
    minutes: 12,
    when: 'night',
  },
  poolers: {
    shows: 'the service works behind PgBouncer, or says what is missing, in each of its modes',
    program: ['checks/poolers.ts'],
    needs: [postgres, pgbouncer],
    minutes: 1,
    when: 'night',
  },
  standby: {
    shows: 'a standby is promoted under load and nothing that was acknowledged is lost',
    program: ['checks/deploy/standby.ts'],
    needs: [postgres],
    minutes: 2,
    when: 'night',
  },
  proxies: {
    shows: 'the configurations of nginx and Caddy pass everything on, and keep internal pages inside',
    program: ['checks/deploy/proxies.ts'],
    needs: [nginx, caddy],
    minutes: 2,
    when: 'night',
  },
  majors: {
    shows:
      'an embedded database of another major version of PostgreSQL is brought to this one by backup and restore',
    program: ['checks/majors.ts'],
    needs: [postgres],
    minutes: 1,
    when: 'night',
  },
  upgrade: {
    shows: 'writers, followers and receivers notice nothing of a rollout from an earlier release',
    program: ['checks/upgrade.ts'],
    needs: [history, registries],
    minutes: 5,
    when: 'night',
  },
  torture: {
    shows: 'a million changes under stalled commits, kills and stepping clocks: nothing is lost or repeated',
    program: ['checks/torture/torture.ts'],
    needs: [],
    minutes: 60,
    when: 'night',
  },
  'mirror-torture': {
    shows: 'mirrors in SQLite, PostgreSQL and DuckDB hold every byte though all around them is killed',
    program: ['checks/torture/mirror.ts'],
    needs: [],
    minutes: 4,
    when: 'night',
  },
  'move-torture': {
    shows: 'an organization that moves between two databases under load and kills loses nothing',
    program: ['checks/torture/moves.ts'],
    needs: [],
    minutes: 4,
    when: 'night',
  },
  chart: {
    shows: 'what helm renders of the chart follows the schemas of Kubernetes',
    program: ['checks/deploy/chart.ts'],
    needs: [helm, kubeconform, python, go, registries],
    minutes: 2,
    when: 'release',
  },
  image: {
    shows: 'the image and the compose files start, write, sync and deliver, also after a kill',
    program: ['checks/deploy/image.ts'],
    needs: [podman, cgroups, registries],
    minutes: 6,
    when: 'release',
  },
  unit: {
    shows: 'systemd starts, confines, restarts and stops the service',
    program: ['checks/deploy/unit.ts'],
    needs: [podman, cgroups, image],
    minutes: 2,
    when: 'release',
  },
  operator: {
    shows: 'the guide on installing works as it is written, on a fresh Debian, with an upgrade under load',
    program: ['checks/operator.ts'],
    needs: [podman, cgroups, history, registries],
    minutes: 10,
    when: 'release',
  },
  history: {
    shows: 'what a recorded history (FILE) has lost, reordered, repeated or invented',
    program: ['checks/torture/check-history.ts'],
    needs: [],
    minutes: 1,
    when: 'file',
  },
}

function program(name: string): Need {
  return { isMet: () => isOnPath(name), remedy: `install ${name}`, packages: [name] }
}

/** Whether the file that a variable names exists; undefined where the variable is not set. */
function isNamedBy(variable: string): boolean | undefined {
  const named = process.env[variable]
  return named === undefined ? undefined : existsSync(named)
}

function isOnPath(...names: readonly string[]): boolean {
  const directories = (process.env.PATH ?? '').split(delimiter)
  return names.some((name) => directories.some((directory) => existsSync(join(directory, name))))
}

function succeeds(command: string, ...args: readonly string[]): boolean {
  return spawnSync(command, args, { cwd: root, stdio: 'ignore' }).status === 0
}
