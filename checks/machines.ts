/**
 * `npm run check -- machines`: the README's commands on machines as people have them. Each case runs in namespaces of its own on a machine
 * where nobody has worked before (`.ci/from-nothing`), with the last commit. Writes the table of `checks/RESULTS.md`; with a word, runs the
 * cases whose names contain it, and writes nothing.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

interface Case {
  readonly name: string
  /** What a person runs, in a shell. */
  readonly run: string
  /** What it must print where it does not work: the cause, or what to do. */
  readonly refusal?: RegExp
  /** Root's preparations, in the namespaces of the case. */
  readonly before?: string
  readonly as?: 'root'
  /** It is ended as by Ctrl-C: npm 9 keeps SIGTERM to itself (docs/guides/operating.md). */
  readonly isInterrupted?: boolean
  readonly directory?: string
}

const checkout = '/home/stranger/deskwire'
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
const stranger = 'setpriv --reuid stranger --regid stranger --clear-groups'
/** In the shell's place, so that a signal to it reaches npm. */
const start = 'exec npm start'
const serve = 'exec sh tools/node.sh packages/cli/deskwire.js serve'
const key = 'dwk_0123456789ABCDEFGHIJKLMNOPQRST3bhm22'
/** Another service in the same directory, which has printed its address. */
const another = `cd ${checkout}
  ${stranger} env HOME=/home/stranger npm start >/tmp/another 2>&1 </dev/null &
  for second in $(seq 60); do ! grep -q 'listening on' /tmp/another || break; sleep 1; done`

const mounted = (name: string, directory: string, refusal?: RegExp): Case => ({
  name,
  before: `mkdir ${quoted(directory)}; mount --bind ${checkout} ${quoted(directory)}`,
  directory,
  run: start,
  ...(refusal && { refusal }),
})

/** An installation of its own, by that Node and npm. */
const installed = (node: number, npm: number, flags = '', refusal?: RegExp): Case => ({
  name: `Node ${node}, npm ${npm}${flags}`,
  before: `cp -a /media/deskwire /home/stranger/own; chown -R stranger: /home/stranger/own; mkdir /media/bin
    ln -s /media/releases/node_modules/node-${node}/bin/node /media/releases/node_modules/npm-${npm}/bin/np[mx] /media/bin
    for tool in npm npx; do ln -sf /media/releases/node_modules/npm-${npm}/bin/$tool-cli.js /media/bin/$tool; done
    export PATH=/media/bin:$PATH`,
  directory: '/home/stranger/own',
  isInterrupted: npm === 9,
  run: `npm ci --prefer-offline${flags} && ${start}`,
  ...(refusal && { refusal }),
})

const cases: readonly Case[] = [
  { name: 'an ordinary user', run: start },
  { name: 'umask 077', run: `umask 077; ${start}` },
  { name: 'umask 027', run: `umask 027; ${start}` },
  ...(['077', '027'] as const).map(
    (umask): Case => ({
      name: `root in a directory of mode 0700, umask ${umask}`,
      as: 'root',
      before:
        'mkdir -p /root/desk; mount -t tmpfs tmpfs /root/desk; cp -a /home/stranger/deskwire/. /root/desk; chown -R root: /root/desk',
      directory: '/root/desk',
      run: `umask ${umask}; ${start}`,
    }),
  ),
  mounted('a path with spaces and umlauts', '/home/stranger/Unser schönes Büro'),
  mounted(
    'a path with a quotation mark and a dollar',
    '/home/stranger/a"b$HOME',
    /a character that PostgreSQL cannot have in its path/,
  ),
  { name: 'HOME is not set', run: `unset HOME; ${start}` },
  // npm itself never ends there: it makes a directory for its log as Node does, again and again.
  { name: 'HOME=/proc, without npm', run: `export HOME=/proc; ${serve}` },
  {
    name: 'TMPDIR of 200 characters',
    run: `export TMPDIR="$HOME/$(printf 't%.0s' {1..200})"; mkdir "$TMPDIR"; ${start}`,
  },
  {
    name: 'TMPDIR that is mounted noexec',
    before: 'mount -t tmpfs -o noexec,mode=1777 tmpfs /tmp',
    run: start,
  },
  { name: 'locale tr_TR.UTF-8', run: `export LC_ALL=tr_TR.UTF-8; ${start}` },
  { name: 'locale C', run: `export LC_ALL=C; ${start}` },
  { name: 'zone Asia/Kathmandu', run: `export TZ=Asia/Kathmandu; ${start}` },
  {
    name: 'IPv6 only, listening on ::1',
    before: 'ip link set lo up; ip address del 127.0.0.1/8 dev lo',
    run: `${start} -- --host ::1`,
  },
  {
    name: 'IPv6 only, listening on 127.0.0.1',
    before: 'ip link set lo up; ip address del 127.0.0.1/8 dev lo',
    run: start,
    refusal: /cannot listen on 127\.0\.0\.1.*DESKWIRE_HOST/,
  },
  ...[
    [18, 9] as const,
    [18, 10] as const,
    [20, 10] as const,
    [22, 10] as const,
    [24, 11] as const,
    [26, 11] as const,
  ].map(([node, npm]) => installed(node, npm)),
  installed(22, 10, ' --omit=optional', /run npm ci without --omit=optional/),
  { name: 'ulimit -u 25', run: `ulimit -u 25; ${start}`, refusal: /ulimit -u|processes/ },
  { name: 'ulimit -u 200', run: `ulimit -u 200; ${start}` },
  { name: 'ulimit -n 24', run: `ulimit -n 24; ${start}`, refusal: /ulimit -n|open files|EMFILE/ },
  { name: 'ulimit -n 256', run: `ulimit -n 256; ${start}` },
  {
    name: 'ulimit -v of 1 GiB',
    run: `ulimit -v 1048576; ${start}`,
    refusal: /ulimit -v|memory/i,
  },
  {
    name: 'a disk of 8 MB',
    before: `mkdir ${checkout}/data; mount -t tmpfs -o size=8m,uid=54321,gid=54321 tmpfs ${checkout}/data`,
    run: start,
    refusal: /space|disk|ENOSPC/i,
  },
  {
    name: '/dev/shm of 1 MB',
    before: 'mount -t tmpfs -o size=1m,mode=1777 tmpfs /dev/shm',
    run: start,
    refusal: /\/dev\/shm/,
  },
  {
    name: 'a fresh directory of data',
    run: `mkdir "$HOME/desk"; ${start} -- --data-dir "$HOME/desk"`,
  },
  {
    name: 'a read-only checkout, data elsewhere',
    before: `mount --bind ${checkout} ${checkout}; mount -o remount,bind,ro ${checkout}`,
    run: `${start} -- --data-dir "$HOME/data"`,
  },
  {
    name: 'a read-only checkout',
    before: `mount --bind ${checkout} ${checkout}; mount -o remount,bind,ro ${checkout}`,
    run: start,
    refusal: /data.*(?:EROFS|read-only)/i,
  },
  { name: 'a second service in the directory', before: another, run: start, refusal: /another|already|runs/ },
  {
    name: 'after SIGKILL of the service',
    before: `${another}; pkill -KILL -f '[d]eskwire.js serve'`,
    run: start,
  },
  {
    name: 'a clock that steps by hours',
    run: 'exec sh tools/node.sh --import ./checks/machines/stepping.ts packages/cli/deskwire.js serve',
  },
]

const isInside = process.argv[2] === '--inside'
const word = process.argv[isInside ? 3 : 2] ?? ''
const wanted = cases.filter(({ name }) => name.includes(word))
if (wanted.length === 0) throw new Error(`no case has ${word} in its name`)
if (isInside) runCases()
else runFromNothing()

/** Installs the last commit for a stranger, and runs the cases there. */
function runFromNothing(): void {
  const install = `HOME=/home/stranger ${stranger} sh -c 'npm ci && sh tools/node.sh tools/build-pages.ts'`
  const inside = `${install} >&2 && exec node_modules/node-*/bin/node checks/machines.ts --inside "$1"`
  const { status, stdout } = spawnSync('.ci/from-nothing', ['bash', '-c', inside, 'bash', word], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: fileURLToPath(new URL('..', import.meta.url)),
  })
  const file = new URL('RESULTS.md', import.meta.url)
  const rows = stdout.split('\n').filter((line) => line.startsWith('| '))
  if (rows.length === cases.length) {
    const table = ['| case | run | expected | seen |', '| --- | --- | --- | --- |', ...rows].join('\n')
    const marked = /(?<=<!-- machines: made by the check -->\n)[\s\S]*?(?=\n<!-- end -->)/
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace(marked, () => table),
    )
  }
  process.exitCode = status ?? 1
}

function runCases(): void {
  const releases = [18, 20, 22, 24, 26].map(
    (release) => `node-${release}@npm:node-linux-${process.arch}@${release}`,
  )
  const managers = [9, 10, 11].map((release) => `npm-${release}@npm:npm@${release}`)
  mustRun(`npm install --silent --prefix /media/releases ${[...releases, ...managers].join(' ')}`)
  for (const one of wanted) {
    const seen = runCase(one)
    const good = one.refusal === undefined ? seen === 'works' : one.refusal.test(seen)
    if (!good) process.exitCode = 1
    // Standard output has the rows of the table.
    console.error(`${good ? 'ok' : 'WRONG'}  ${one.name}: ${seen}`)
    const expected = one.refusal === undefined ? 'works' : 'a message'
    const cells = [
      one.name,
      `\`${one.run.replace('exec ', '')}\``,
      expected,
      seen === 'works' ? seen : `${good ? '' : '**WRONG** '}\`${seen.replaceAll('`', "'")}\``,
    ]
    console.log(`| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
  }
}

/** What `checks/machines/start.ts` says. */
function runCase({ name, run, before = '', as, directory = checkout, isInterrupted = false }: Case): string {
  const home = as === 'root' ? '/root' : '/home/stranger'
  const command = `${as === 'root' ? '' : stranger} env HOME=${home} bash -c ${quoted(run)}`
  const script = `set -e; ${before}
    cd ${quoted(directory)}; exec ${quoted(process.execPath)} ${checkout}/checks/machines/start.ts ${isInterrupted ? '--ctrl-c ' : ''}${command}`
  const isAlone = name.startsWith('IPv6') ? ['--net'] : []
  const { stdout, stderr } = spawnSync(
    'unshare',
    [...isAlone, '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', 'bash', '-c', script],
    {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 600_000,
      // unshare ignores SIGTERM; its child ends with it.
      killSignal: 'SIGKILL',
      env: { ...process.env, DESKWIRE_PORT: '0', DESKWIRE_BOOTSTRAP_KEY: key },
    },
  )
  mustRun(
    `rm -rf ${checkout}/data /home/stranger/own /home/stranger/desk /home/stranger/data /media/bin /var/lib/deskwire`,
  )
  return stdout.trim().split('\n').at(-1) || stderr.trim().split('\n').at(-1) || 'nothing is said'
}

function mustRun(command: string): void {
  const { status, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command}: ${stderr}`)
}
