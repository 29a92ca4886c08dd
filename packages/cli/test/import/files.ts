/** Files for the time of a test. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A file with this content, in a directory of its own. */
export function fileOf(content: string | Uint8Array, name = 'customers.csv'): string {
  const directory = mkdtempSync(join(tmpdir(), 'deskwire-import-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const path = join(directory, name)
  writeFileSync(path, content)
  return path
}
