import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { loadOrCreateEncryptionKey, parseEncryptionKey } from '../../src/delivery/endpoint/secrets.ts'

const dataDirectory = async (): Promise<string> => {
  const path = await mkdtemp(join(tmpdir(), 'deskwire-key-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

test('a key is 32 bytes in base64, and nothing else', () => {
  for (let n = 0; n < 100; n++) {
    const key = randomBytes(32)
    expect(parseEncryptionKey(key.toString('base64'))).toEqual(key)
  }
  const text = Buffer.alloc(32, 0xff).toString('base64')
  const wrong = [
    '',
    text.slice(1),
    text.slice(0, -1),
    `${text}=`,
    ` ${text}`,
    `${text}\n`,
    text.replaceAll('/', '_'),
    `${text.slice(0, 42)}9=`, // other bits behind the last byte
    randomBytes(31).toString('base64'),
    randomBytes(33).toString('base64'),
    randomBytes(32).toString('hex'),
    'correct horse battery staple',
  ]
  for (const one of wrong) expect(parseEncryptionKey(one), one).toBeUndefined()
})

test('the first start makes the key, for its owner alone; later ones find it', async () => {
  const dataDir = await dataDirectory()
  const key = await loadOrCreateEncryptionKey(dataDir)
  expect(key).toHaveLength(32)
  expect(await readdir(dataDir)).toEqual(['encryption.key'])
  const path = join(dataDir, 'encryption.key')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(await readFile(path, 'utf8')).toBe(`${key.toString('base64')}\n`)
  expect(await loadOrCreateEncryptionKey(dataDir)).toEqual(key)
  expect(await loadOrCreateEncryptionKey(await dataDirectory())).not.toEqual(key)
})

test('a key put there by hand is used, with or without a line break', async () => {
  const dataDir = await dataDirectory()
  const key = randomBytes(32)
  for (const ending of ['', '\n', '\r\n']) {
    await writeFile(join(dataDir, 'encryption.key'), key.toString('base64') + ending)
    expect(await loadOrCreateEncryptionKey(dataDir)).toEqual(key)
  }
})

test.each(['', '\n', 'not a key\n'])('a file without a key is refused and left alone: %j', async (text) => {
  const dataDir = await dataDirectory()
  const path = join(dataDir, 'encryption.key')
  await writeFile(path, text)
  await chmod(path, 0o400)
  await expect(loadOrCreateEncryptionKey(dataDir)).rejects.toThrow(`${path} does not hold 32 bytes`)
  expect(await readFile(path, 'utf8')).toBe(text)
  expect(await readdir(dataDir)).toEqual(['encryption.key'])
})

test('a data directory that is not there is an error', async () => {
  const dataDir = join(await dataDirectory(), 'missing')
  await expect(loadOrCreateEncryptionKey(dataDir)).rejects.toThrow('missing')
})

test('calls that race agree on one key', async () => {
  const dataDir = await dataDirectory()
  const keys = await Promise.all(Array.from({ length: 50 }, () => loadOrCreateEncryptionKey(dataDir)))
  expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(1)
  expect(await readdir(dataDir)).toEqual(['encryption.key'])
})

test('processes that race agree on one key', async () => {
  const dataDir = await dataDirectory()
  const module = new URL('../../src/delivery/endpoint/secrets.ts', import.meta.url)
  // They load first and go at one moment, so that they meet.
  const program = `
    import { loadOrCreateEncryptionKey } from ${JSON.stringify(module.href)}
    while (Date.now() < ${Date.now() + 1_500});
    console.log((await loadOrCreateEncryptionKey(${JSON.stringify(dataDir)})).toString('hex'))`
  const run = () =>
    promisify(execFile)(process.execPath, ['--input-type=module-typescript', '--eval', program])
  const answers = await Promise.all([run(), run(), run()])
  const [key] = answers.map(({ stdout }) => stdout.trim())
  expect(key).toMatch(/^[0-9a-f]{64}$/)
  expect(answers.every(({ stdout }) => stdout.trim() === key)).toBe(true)
  expect((await loadOrCreateEncryptionKey(dataDir)).toString('hex')).toBe(key)
  expect(await readdir(dataDir)).toEqual(['encryption.key'])
})
