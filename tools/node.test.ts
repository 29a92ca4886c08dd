import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

test('a checkout without its own Node says in one line that the one on the PATH is too old', () => {
  const checkout = mkdtempSync(join(tmpdir(), 'deskwire-checkout-'))
  try {
    for (const name of ['tools', 'bin', 'node_modules']) mkdirSync(join(checkout, name))
    copyFileSync(join(import.meta.dirname, 'node.sh'), join(checkout, 'tools/node.sh'))
    const old = '#!/bin/sh\n[ "$1" = --version ] && echo v22.23.3\n[ "$1" != -e ]\n'
    writeFileSync(join(checkout, 'bin/node'), old, { mode: 0o755 })
    const { status, stderr } = spawnSync('sh', [join(checkout, 'tools/node.sh'), 'any.ts'], {
      env: { PATH: `${join(checkout, 'bin')}:${process.env.PATH}` },
      encoding: 'utf8',
    })
    expect(stderr).toMatch(/^deskwire: this checkout needs Node 24 or later, .* has v22\.23\.3: .*\n$/)
    expect(status).toBe(1)
  } finally {
    rmSync(checkout, { recursive: true })
  }
})
