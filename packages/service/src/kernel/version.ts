/** Which release this is. */
import { readFileSync } from 'node:fs'

/** The release: the manifest stands beside the sources, in the repository and as published. */
export const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { version: string }
