import { expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'

test.each([
  'postgres://deskwire:secret@db.example.com:5432/desk?sslmode=require',
  'postgres://deskwire@/desk?host=/run/postgresql&port=5433',
  'postgresql:///desk?host=/run/postgresql&user=deskwire',
])('%s is a database', (url) => {
  const config = readConfig({ DESKWIRE_DATABASE_URL: url })
  expect(config).toMatchObject({ ok: true, value: { databaseUrl: url } })
})

test.each(['mysql://db/desk', 'postgres://db:port/desk', 'localhost:5432'])('%s is none', (url) => {
  expect(readConfig({ DESKWIRE_DATABASE_URL: url }).ok).toBe(false)
})
