/**
 * The files of Swagger UI that the service serves, with its licence, beside our own assets. They are two megabytes of a package of
 * twelve, which depends on one that reports each installation to its makers.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const served = [
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
  'LICENSE',
  'NOTICE',
] as const

/** What makes each file's text, by its path in the repository. */
export function swaggerUiFiles(): Readonly<Record<string, () => string>> {
  const here = createRequire(new URL('../../packages/service/package.json', import.meta.url))
  const source = dirname(here.resolve('swagger-ui-dist/package.json'))
  const make = (file: string) => () => readFileSync(join(source, file), 'utf8')
  return Object.fromEntries(served.map((file) => [`packages/service/assets/swagger-ui/${file}`, make(file)]))
}
