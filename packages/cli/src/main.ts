#!/usr/bin/env node
/** `deskwire`: sets this process up, and runs the command that its words name. */
import module from 'node:module'
import { fileURLToPath } from 'node:url'
import { exitCodes, outputFailure, watchOutput } from './failure.ts'
import { fail, runDeskwire } from './run.ts'

/** The oldest Node that runs this, as in `engines` of the manifest. */
const oldest = [22, 18] as const
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < oldest[0] || (major === oldest[0] && minor < oldest[1])) {
  fail(`needs Node ${oldest.join('.')} or later, and this is ${process.versions.node}`, exitCodes.failed)
  process.exit()
}

// Compiling is half of what a short command costs. Kept beside the code: whoever can write there could change that as
// well. Where it cannot be written, nothing is kept.
module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)))

// Files of commands may hold a desk: they are for their user alone, those that libraries make as well.
process.umask(0o077)

const [, , ...words] = process.argv

watchOutput()
process.once('exit', () => {
  const failure = outputFailure()
  if (failure !== null) fail(failure, exitCodes.failed)
})
const { keepsProcess } = await runDeskwire(words)
// A connection that was refused half way may stay open until the server ends it, a minute later.
if (keepsProcess) setTimeout(() => process.exit(), 1_000).unref()
