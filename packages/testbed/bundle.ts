/**
 * The command line in few files, for tests that start it as a process: loading hundreds of modules took half of such a
 * start. Built from the sources for each run. `npm start`, guides and packages are tested without it.
 */
import { symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Plugin, rolldown } from 'rolldown'
import { root } from './repository.ts'

/** By the names of their files, which processes show. */
const input = {
  deskwire: 'packages/cli/src/main.ts',
  'worker-process': 'packages/service/src/roles/worker-process.ts',
  'text-thread': 'packages/service/src/summarizer/text-thread.ts',
  'offload-thread': 'packages/service/src/roles/offload-thread.ts',
  'torture-service': 'checks/torture/service-process.ts',
}

/** They begin one of the others, in the file beside them. */
const beginners = /\/(?:roles\/(?:supervise|offload)|summarizer\/writer)\.ts$/

/** Modules find assets and PostgreSQL's programs from where their sources are. */
const places: Plugin = {
  name: 'places',
  transform(code, id) {
    if (!id.startsWith(join(root, 'packages')) || !code.includes('import.meta.url')) return null
    const place = beginners.test(id)
      ? `new URL('./${basename(id, '.ts')}.js', import.meta.url).href`
      : `'${pathToFileURL(id).href}'`
    return code.replaceAll('import.meta.url', place)
  },
}

/** Builds it into an existing directory, and returns the path to run. */
export async function bundleCommandLine(dir: string): Promise<string> {
  const bundle = await rolldown({
    cwd: root,
    input,
    platform: 'node',
    // What an application may install for it is loaded from where that is.
    external: [/^@(?:duckdb|modelcontextprotocol|opentelemetry)\//, 'pg-native'],
    plugins: [places],
    logLevel: 'silent',
  })
  await bundle.write({ dir, format: 'esm' })
  await bundle.close()
  await writeFile(join(dir, 'package.json'), '{"type":"module"}')
  await symlink(join(root, 'node_modules'), join(dir, 'node_modules'))
  return join(dir, 'deskwire.js')
}
