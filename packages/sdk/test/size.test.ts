/** What a page downloads of the SDK: bundled, minified and gzipped, as a bundler makes it for browsers. */
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { expect, test } from 'vitest'

/** Bytes of a module that exports no more than this. */
async function bytesOf(name: string, file: string): Promise<number> {
  const path = fileURLToPath(new URL(`../src/${file}`, import.meta.url))
  const entry = '\0entry'
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === entry ? id : null),
        load: (id) => (id === entry ? `export { ${name} } from ${JSON.stringify(path)}` : null),
      },
    ],
    build: {
      write: false,
      minify: true,
      target: 'es2022',
      rolldownOptions: {
        input: entry,
        preserveEntrySignatures: 'strict',
        treeshake: { moduleSideEffects: false },
      },
    },
  })
  const [{ output } = { output: [] }] = [built].flat() as { output: { code?: string }[] }[]
  const code = output.map((chunk) => chunk.code ?? '').join('')
  expect(code).toContain(`as ${name}`)
  return gzipSync(code, { level: 9 }).length
}

test.each([
  ['verify', 'signature.ts', 2_048],
  // With streams of events, which `follow` reads.
  ['createClient', 'index.ts', 8_300],
])('%s of %s is at most %d bytes', async (name, file, most) => {
  expect(await bytesOf(name, file)).toBeLessThanOrEqual(most)
})
