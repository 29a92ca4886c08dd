/**
 * `versions.ts RELEASE SITE`: runs `versions.py` in a release of Pyodide, which is Python for WebAssembly. npm has it for each version of
 * Python, where a machine has one. SITE has the packages that the SDK needs.
 */
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { textOf } from '../../packages/testbed/repository.ts'

interface Python {
  readonly FS: {
    mkdir(path: string): void
    mount(type: unknown, options: { root: string }, path: string): void
    readonly filesystems: { readonly NODEFS: unknown }
  }
  runPython(program: string): unknown
}

const [release = '', site = ''] = process.argv.slice(2)
const { loadPyodide } = await import(pathToFileURL(join(release, 'pyodide.mjs')).href)
const python: Python = await loadPyodide({ indexURL: `${release}/` })
const sources = fileURLToPath(new URL('../..', import.meta.url))
for (const [path, root] of [
  ['/site', site],
  // With the vectors and cases next to it, which the tests read.
  ['/repository', sources],
] as const) {
  python.FS.mkdir(path)
  python.FS.mount(python.FS.filesystems.NODEFS, { root }, path)
}
python.runPython(textOf('checks/python/versions.py'))
