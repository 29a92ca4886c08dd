// The server's account reaches the programs, whatever the umask; where it cannot, the message says which directory is closed.
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import type { Accounts } from '../src/account.ts'
import { layoutOf, prepareDataDir } from '../src/datadir.ts'
import { nameHost } from '../src/host.ts'
import { makePath } from '../src/make-path.ts'
import { runProgram, startProgram } from '../src/program.ts'
import { copyRuntime } from '../src/runtime.ts'
import { makeSocketDir } from '../src/socket.ts'

const self = { uid: process.geteuid!(), gid: process.getegid!() }
const accounts: Accounts = { accountName: 'x', owner: self, server: { uid: 4711, gid: 4711 }, switches: true }
const host = nameHost({ name: 'example' })
const umask = process.umask()
const directories: string[] = []
let home = ''
let packageDir = ''

beforeEach(async () => {
  process.umask(0o077)
  home = await mkdtemp(join(tmpdir(), 'reach-'))
  directories.push(home)
  await chmod(home, 0o755)
  packageDir = join(home, 'package')
  await mkdir(join(packageDir, 'native/bin'), { recursive: true })
  await writeFile(join(packageDir, 'native/pg-symlinks.json'), '[]')
  await writeFile(join(packageDir, 'native/bin/initdb'), '#!/nowhere/sh\n', { mode: 0o700 })
  return () => process.umask(umask)
})
afterAll(async () => {
  for (const path of directories) await rm(path, { recursive: true })
})

const modeOf = async (path: string) => (await stat(path)).mode & 0o777
const copy = (...bases: string[]) => copyRuntime(packageDir, '18.4.0', bases, accounts, host)

test('every directory made for a copy of the programs is open to the server, whatever the umask', async () => {
  const base = join(home, 'var/deskwire/runtime')
  const made = await copy(base)
  expect(dirname(made)).toBe(base)
  for (const path of ['var', 'var/deskwire', 'var/deskwire/runtime'])
    expect(await modeOf(join(home, path)), path).toBe(0o755)
  expect(await modeOf(join(made, 'native/bin/initdb'))).toBe(0o755)
})

test('a closed parent is opened if it was made for the copies, and avoided if it holds anything else', async () => {
  const parent = join(home, 'deskwire')
  const [base, other] = [join(parent, 'runtime'), join(home, 'other')]
  await mkdir(base, { recursive: true })
  expect(dirname(await copy(base, other))).toBe(base)
  expect(await modeOf(parent)).toBe(0o755)

  await writeFile(join(parent, 'secret'), '')
  await chmod(parent, 0o700)
  expect(dirname(await copy(base, other))).toBe(other)
  expect(await modeOf(parent)).toBe(0o700)
  await expect(copy(base)).rejects.toThrow(
    `user id 4711, which PostgreSQL runs as, cannot enter ${parent} (mode 0700): chmod a+x "${parent}"`,
  )
})

test('where nothing can be created, as below /proc, the refusal names the directory', async () => {
  await expect(prepareDataDir(host, '/proc/self/desk/data', () => {})).rejects.toThrow(
    /^the data directory \/proc\/self\/desk\/data cannot be used \(/,
  )
  await expect(copy('/proc/self/desk/runtime')).rejects.toThrow('/proc/self/desk')
})

test('several processes may create the same directories at once', async () => {
  for (let n = 0; n < 20; n++) {
    const base = join(home, `${n}/a/b/c`)
    await Promise.all(Array.from({ length: 4 }, () => makePath(base, 0o755)))
    expect((await stat(base)).isDirectory()).toBe(true)
  }
})

test('a path that PostgreSQL would misread is not used, and the refusal names the characters', async () => {
  const [wrong, right] = [join(home, 'a"b$c/runtime'), join(home, "it's/runtime")]
  expect(dirname(await copy(wrong, right))).toBe(right)
  await expect(copy(wrong)).rejects.toThrow(
    `${wrong} has a character that PostgreSQL cannot have in its path: "`,
  )
  const own: Accounts = { ...accounts, server: self, switches: false }
  for (const name of ['a,b', 'a"b']) {
    const dataDir = join(home, name)
    await mkdir(dataDir)
    const made = await makeSocketDir(layoutOf(host, dataDir), own)
    directories.push(made)
    expect(made).not.toContain(name)
  }
})

test.each([
  [['lost+found', 'listen'], null],
  [
    ['listen', 'theirs'],
    'is open to other users and holds other files (theirs): give dataDir a directory of its own',
  ],
])('an open data directory with %j is closed unless others may use it', async (names, refusal) => {
  const dataDir = join(home, 'data')
  for (const name of names) await mkdir(join(dataDir, name), { recursive: true })
  await chmod(dataDir, 0o755)
  const prepared = prepareDataDir(nameHost({ name: 'example', ownNames: ['listen'] }), dataDir, () => {})
  if (refusal === null) await prepared
  else await expect(prepared).rejects.toThrow(refusal)
  expect(await modeOf(dataDir)).toBe(refusal === null ? 0o700 : 0o755)
})

test('a program that cannot be run is explained by its cause', async () => {
  const start = (program: string, as = accounts) =>
    startProgram(program, [], { cwd: home, accounts: as, host, stdio: 'ignore' })
  const own: Accounts = { ...accounts, server: self, switches: false }
  const program = join(packageDir, 'native/bin/initdb')
  await expect(start(program, own)).rejects.toThrow(/initdb ENOENT\): it needs glibc, or use a PostgreSQL/)
  await chmod(program, 0o600)
  await expect(start(program, own)).rejects.toThrow(/initdb EACCES\): .* not mounted noexec/)
  if (self.uid === 0) await expect(start(program)).rejects.toThrow(`cannot enter ${packageDir} (mode 0700)`)
  else await expect(start(program)).rejects.toThrow('may not become another user')
})

test.each([
  [
    [
      'FATAL:  could not resize shared memory segment "/P" to 1 bytes: No space left on device',
      'PANIC:  cannot abort',
    ],
    'enlarge /dev/shm to 64 MB (docker run --shm-size=64m)',
  ],
  [['FATAL:  could not write to file "x": No space left on device'], 'free space on the disk'],
  [
    ['FATAL:  could not execute command "locale -a": Cannot allocate memory'],
    'raise the limit of processes (ulimit -u',
  ],
  [
    ['LOG:  could not fork "startup" process: Resource temporarily unavailable'],
    'raise the limit of processes (ulimit -u',
  ],
  [
    ['FATAL:  insufficient file descriptors available', 'initdb: removing contents'],
    'raise the limit of open files',
  ],
  [
    ['FATAL:  could not map anonymous shared memory: Cannot allocate memory'],
    'raise the limit of memory (ulimit -v)',
  ],
  [['initdb: error: something else', 'FATAL:  and what follows'], 'remove the cause'],
])('a creation that fails with %j names its cause and the remedy', async (lines, remedy) => {
  const program = join(home, 'fails')
  await writeFile(program, `#!/bin/sh\ncat <<'END'\n${lines.join('\n')}\nEND\nexit 1\n`, { mode: 0o700 })
  const own: Accounts = { ...accounts, server: self, switches: false }
  await expect(runProgram(program, [], { cwd: home, accounts: own, host, input: '' })).rejects.toThrow(
    `ended with status 1: ${lines[0]}): ${remedy}`,
  )
})
