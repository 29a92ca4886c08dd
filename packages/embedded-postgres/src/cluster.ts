// Creates the cluster: `<dataDir>/postgres` is complete with its roles and its database, or it does not exist. It is
// created in a directory beside it, which is renamed when everything in it is on disk.
import { randomBytes } from 'node:crypto'
import { readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Accounts } from './account.ts'
import type { Binaries } from './binaries.ts'
import { type Layout, makeDirectory, syncDirectory } from './datadir.ts'
import { EmbeddedDatabaseError, hasCode } from './error.ts'
import { markArgument, processesOf, signal, waitUntilIdle } from './processes.ts'
import { runProgram, workingDirectory } from './program.ts'
import { ADMIN_ROLE } from './settings.ts'

/**
 * Returns whether a cluster was created; `onBegun` is called once its first program runs. @throws
 * EmbeddedDatabaseError when there is another version or something else, or it failed.
 */
export async function ensureCluster(
  layout: Layout,
  accounts: Accounts,
  binaries: Binaries,
  onBegun: () => void,
): Promise<boolean> {
  await removeUnfinished(layout)
  const major = await clusterVersion(layout)
  if (major === null) {
    await create(layout, accounts, binaries, onBegun)
    return true
  }
  if (major !== binaries.major)
    throw new EmbeddedDatabaseError(
      `${layout.cluster} was made by PostgreSQL ${major} and ${layout.host.words.program} brings PostgreSQL ${binaries.major}: ${layout.host.words.otherMajor}`,
    )
  return false
}

async function clusterVersion(layout: Layout): Promise<string | null> {
  try {
    return (await readFile(join(layout.cluster, 'PG_VERSION'), 'utf8')).trim()
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTDIR')) throw error
  }
  if (!(await readdir(layout.dataDir)).includes('postgres')) return null
  throw new EmbeddedDatabaseError(
    `${layout.cluster} is not a PostgreSQL cluster: restore it from a backup, or move it away to begin with an empty database`,
  )
}

/** Removes what a killed creation has left. */
export async function removeUnfinished(layout: Layout): Promise<void> {
  for (const name of await readdir(layout.dataDir)) {
    if (!/^postgres\.new-[0-9a-f]{12}$/.test(name)) continue
    const path = join(layout.dataDir, name)
    // The host was killed, but the program it had started may still be writing.
    for (const pid of await processesOf(path)) signal(pid, 'SIGKILL')
    await waitUntilIdle(path, 5_000)
    await rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  }
}

/** On Linux one call syncs the file system in 0.2 s of a busy disk; the 1,272 files of the cluster take 2.3 s. */
const syncMethod = process.platform === 'linux' ? 'syncfs' : 'fsync'

async function create(
  layout: Layout,
  accounts: Accounts,
  binaries: Binaries,
  onBegun: () => void,
): Promise<void> {
  const unfinished = `${layout.cluster}.new-${randomBytes(6).toString('hex')}`
  await makeDirectory(unfinished, accounts.server)
  try {
    const directory = workingDirectory(unfinished)
    const mark = await markArgument(unfinished)
    const { name } = layout.host
    const options = { cwd: unfinished, accounts, host: layout.host }
    const initialized = runProgram(
      binaries.initdb,
      [
        ...['-D', directory, '-U', ADMIN_ROLE, '--auth=peer', '--no-instructions', '--no-sync', '-c', mark],
        // Every commit waits while a segment of the log is created: 60 to 100 ms for the usual 16 MB.
        '--wal-segsize=1',
        // Byte order, the same on every machine; upper and lower case of all of Unicode.
        ...['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
      ],
      { ...options, input: '' },
    )
    onBegun()
    await initialized
    // The host's role is no superuser: injected SQL reaches neither files nor programs. It may create databases for
    // tests, which clone theirs. Its database is initdb's: another would be a copy of 300 files, a fifth of all the
    // work.
    await runProgram(
      binaries.postgres,
      [
        ...['--single', '-D', directory, '-c', 'exit_on_error=on', '-c', 'log_checkpoints=off'],
        ...['-c', 'fsync=off', '-c', mark, 'template1'],
      ],
      {
        ...options,
        input: [
          `create role ${name} login createdb`,
          `alter database postgres rename to ${name}`,
          `alter database ${name} owner to ${name}`,
          `comment on database ${name} is null`,
          '',
        ].join('\n'),
      },
    )
    await runProgram(binaries.initdb, ['-D', directory, '--sync-only', `--sync-method=${syncMethod}`], {
      ...options,
      input: '',
    })
    await rename(unfinished, layout.cluster)
    await syncDirectory(layout.dataDir)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
    throw error
  }
}
