/** The commands of the guide on several databases, as it has them, on two. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testDatabase } from '../../testbed/database.ts'
import { temporaryDataDir } from '../../testbed/installation.ts'
import { root } from '../../testbed/repository.ts'
import { socketUrl } from '../../testbed/services.ts'
import { runHere } from './run-here.ts'

test('each command of the guide does what it says', async () => {
  await using one = await testDatabase()
  await using two = await testDatabase()
  await using scratch = await temporaryDataDir()
  const file = join(scratch.parent, 'databases')
  await writeFile(file, `one ${socketUrl(one.connection)}\ntwo ${socketUrl(two.connection)}\n`)
  const settings = {
    DESKWIRE_DATABASES: file,
    DESKWIRE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  }
  const run = async (words: readonly string[]) => {
    const ran = await runHere(words, { settings, cwd: scratch.parent })
    return { ...ran, text: ran.stdout + ran.stderr }
  }
  const guide = await readFile(join(root, 'docs/guides/databases.md'), 'utf8')
  const commands = [...guide.matchAll(/^ *npx deskwire (.*)$/gm)].map(([, line = '']) =>
    [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? ''),
  )
  const said = new Map<string, Awaited<ReturnType<typeof run>>>()
  for (const words of commands) {
    const ran = await run(words)
    expect([words, ran.code, ran.text]).toEqual([words, 0, ran.text])
    said.set(words.join(' '), ran)
  }
  const place = async (pool: typeof one.pool) =>
    (await pool.query<{ name: string }>('select o.name from organizations o order by o.name')).rows
  // Where there is room: both are empty, and the first comes first.
  expect(await place(one.pool)).toEqual([{ name: 'Analytical Engines' }])
  expect(await place(two.pool)).toEqual([{ name: 'Difference Engines' }])
  expect(said.get('organizations list')?.stdout).toMatch(/DATABASE[\s\S]*one[\s\S]*two/)
  expect(said.get('migrate')?.stdout).toBe('one: up to date\ntwo: up to date\n')
  expect(said.get('doctor')?.stdout).toMatch(/database one [\s\S]*database two /)
  expect(said.get('databases settle --database two')?.stdout).toContain('0 more organizations')
  expect(said.get('backup mark-restored --database two')?.stdout).toContain('1 organization is told')

  const refused = await run(['backup', 'create', 'three.backup'])
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('of one, two')])
})

test('where a database does not answer, a command says so in a line and fails', async () => {
  await using scratch = await temporaryDataDir()
  const away = 'postgres://deskwire@127.0.0.1:1/deskwire'
  const settings = { DESKWIRE_DATABASES: `one ${away};two ${away}2` }
  const id = '01980000-0000-7000-8000-000000000001'
  for (const words of [
    ['organizations', 'move', id, '--to', 'two'],
    ['organizations', 'drop-source', id, '--from', 'two'],
    ['organizations', 'balance'],
    ['organizations', 'list-keys', id],
  ]) {
    const { code, stdout, stderr } = await runHere(words, { settings, cwd: scratch.parent })
    expect([words, code, stdout, stderr]).toEqual([
      words,
      1,
      '',
      expect.stringMatching(/^deskwire: the database (one )?cannot be used: connect ECONNREFUSED [^\n]*\n$/),
    ])
  }
})
