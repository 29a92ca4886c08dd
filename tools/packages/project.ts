/** A fresh project of somebody who has the tarballs alone: its files, its compiler, and what its programs say. */
import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startProgram } from '../../packages/testbed/program.ts'
import { environment, ready } from '../../packages/testbed/services.ts'

const run = promisify(execFile)

/** What `consume` answers where everything works. */
export const consumed = '2 2 true 2 not_found ticket.created function true'

/** How a project is compiled: the resolution, and whose types of `fetch` it has. */
interface Compilation {
  readonly moduleResolution: 'nodenext' | 'bundler'
  readonly platform: 'browser' | 'node'
}

export const compilations: readonly Compilation[] = [
  { moduleResolution: 'nodenext', platform: 'node' },
  { moduleResolution: 'nodenext', platform: 'browser' },
  { moduleResolution: 'bundler', platform: 'node' },
  { moduleResolution: 'bundler', platform: 'browser' },
]

/** The programs of `consumer/`: of the SDK, of the service, and of the service with a pool of pg. */
const programs = ['consumer.ts', 'embedding.ts', 'pool.ts'] as const
type Program = (typeof programs)[number]

/** Makes the directory of an ES module project with the programs, and nothing installed. */
export function makeProject(directory: string): void {
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'package.json'), '{ "private": true, "type": "module" }\n')
  for (const program of programs) {
    copyFileSync(fileURLToPath(new URL(`consumer/${program}`, import.meta.url)), join(directory, program))
  }
}

/**
 * Compiles a program of the project to JavaScript beside it, as strictly as a compiler can be; declarations of packages are
 * checked too. Rejects with what the compiler says.
 */
export async function compile(
  directory: string,
  compiler: string,
  { moduleResolution, platform }: Compilation,
  program: Program = 'consumer.ts',
): Promise<void> {
  const options = {
    target: 'es2022',
    module: moduleResolution === 'nodenext' ? 'nodenext' : 'esnext',
    moduleResolution,
    lib: platform === 'browser' ? ['es2022', 'dom', 'dom.asynciterable', 'dom.iterable'] : ['es2022'],
    types: platform === 'browser' ? [] : ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: true,
    skipLibCheck: platform === 'node' && program === 'consumer.ts',
  }
  const project = join(directory, 'tsconfig.json')
  writeFileSync(project, JSON.stringify({ compilerOptions: options, files: [program] }))
  await run(process.execPath, [compiler, '-p', project], { encoding: 'utf8' }).catch((error) => {
    throw new Error(`${error.stdout}${error.stderr}`)
  })
}

/** Runs the compiled consumer under a Node, against a service. @returns the line that it answers. */
export async function consumeWith(node: string, directory: string, { url, key }: Served): Promise<string> {
  const program = `import { consume } from './consumer.js'; console.log(await consume('${url}/v1', '${key}'))`
  const { stdout } = await run(node, ['--input-type=module', '--eval', program], {
    cwd: directory,
    encoding: 'utf8',
  })
  return stdout.trim()
}

export interface Served extends AsyncDisposable {
  readonly url: string
  /** The first key, as the service printed it. */
  readonly key: string
}

/** Starts `deskwire serve`, by the words of a command line, on a new data directory; throws what it says when it ends. */
export async function startServed(
  [command = '', ...words]: readonly string[],
  { cwd, path }: { readonly cwd: string; readonly path?: string },
): Promise<Served> {
  const program = startProgram(command, [...words, 'serve', '--port', '0', '--data-dir', join(cwd, 'data')], {
    cwd,
    env: environment({ ...(path && { PATH: path }) }),
    // npx does not pass signals on.
    group: true,
  })
  const service = await ready(program)
  return { ...service, key: /\bdwk_\w+/.exec(program.output.stdout)?.[0] ?? '' }
}
