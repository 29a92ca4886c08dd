/**
 * `npm run build`: each package as it is published, in its own `dist/`: JavaScript, declarations and a manifest
 * that points at them. In the repository the manifests point at the TypeScript sources.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const compiled = mkdtempSync(join(tmpdir(), 'deskwire-build-'))
const options = ['--noEmit', 'false', '--declaration', '--outDir', compiled, '--rootDir', root]
execFileSync('tsc', ['-p', 'tsconfig.build.json', ...options], { cwd: root, stdio: 'inherit' })

for (const name of ['sdk', 'service', 'cli']) {
  const source = join(root, 'packages', name)
  const target = join(source, 'dist')
  rmSync(target, { recursive: true, force: true })
  cpSync(join(compiled, 'packages', name, 'src'), join(target, 'src'), { recursive: true })
  cpSync(join(root, 'LICENSE'), join(target, 'LICENSE'))
  // What a package publishes beside its code.
  for (const beside of ['README.md', 'vectors', 'assets']) {
    if (existsSync(join(source, beside)))
      cpSync(join(source, beside), join(target, beside), { recursive: true })
  }
  const manifest = readFileSync(join(source, 'package.json'), 'utf8')
  const published = JSON.parse(manifest.replaceAll(/(\.?\/?src\/[\w-]+)\.ts"/g, '$1.js"'))
  if (name === 'service') carrySwaggerUi(target, published)
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
}
rmSync(compiled, { recursive: true })

/**
 * The files of Swagger UI that are served go along, with its licence, instead of the package: that depends on one which
 * reports each installation to its makers.
 */
function carrySwaggerUi(target: string, manifest: { dependencies: Record<string, string> }): void {
  const source = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
  for (const file of [
    'swagger-ui.css',
    'swagger-ui-bundle.js',
    'swagger-ui-bundle.js.LICENSE.txt',
    'LICENSE',
    'NOTICE',
  ]) {
    cpSync(join(source, file), join(target, 'assets', 'swagger-ui', file))
  }
  delete manifest.dependencies['swagger-ui-dist']
}
