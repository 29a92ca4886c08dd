/** What a call is given on the command line: fields of its body or query. */
import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { readJson } from '@deskwire/sdk/json'
import { type FieldFault, faultsText, lossFaults } from '../import/fault.ts'
import { UsageError } from '../usage-error.ts'
import type { Flag } from './operation.ts'

export type Fields = Record<string, unknown>

export const fieldHelp = `  --field, -f NAME=TEXT  a field; NAME:=JSON for any value, author.type=ai for one within another
  --data JSON            the whole body; @FILE reads it from a file, @- from standard input
`

/** Adds `name=text`, `name:=json` and `one.within=another`. @throws UsageError */
export function addFields(to: Fields, given: readonly string[]): void {
  const paths = new Set<string>()
  for (const one of given) {
    const [, path, isJson, value = ''] = /^([\w.-]+?)(:?)=([\s\S]*)$/.exec(one) ?? []
    if (path === undefined)
      throw new UsageError(
        `--field: ${JSON.stringify(one)} is not accepted; it must be like status=open or tags:=["a"]`,
      )
    if (paths.has(path)) throw new UsageError(`--field ${path} is given twice`)
    paths.add(path)
    set(to, path.split('.'), isJson === ':' ? readJsonText(`--field ${path}`, value) : value)
  }
}

/** The value of a flag as the API has it; which values there are is for the service to say. @throws UsageError */
export function flagValue({ name, type }: Flag, given: string): unknown {
  if (type === 'list') return given.split(',').filter((one) => one !== '')
  if (type === 'json') return readJsonText(`--${name}`, given)
  if (type === 'number') {
    if (/^-?\d+$/.test(given) && Number.isSafeInteger(Number(given))) return Number(given)
    throw new UsageError(`--${name}: ${JSON.stringify(given)} is not accepted; it must be a whole number`)
  }
  return given
}

/** The body that `--data` gives: an object. @throws UsageError */
export async function readData(given: string): Promise<Fields> {
  const json = !given.startsWith('@')
    ? given
    : given === '@-'
      ? utf8(await buffer(process.stdin))
      : utf8(await readFile(given.slice(1)))
  const value = readJsonText('--data', json)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw new UsageError('--data must be a JSON object, or @FILE with one')
}

/** @throws UsageError for bytes that decoding would replace. */
function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new UsageError('--data must be JSON in UTF-8')
  }
}

function readJsonText(flag: string, given: string): unknown {
  let faults: readonly FieldFault[]
  try {
    faults = lossFaults(given)
  } catch {
    throw new UsageError(`${flag} must be JSON`)
  }
  if (faults.length > 0) throw new UsageError(`${flag}: ${faultsText(faults)}`)
  return readJson(given)
}

function set(to: Fields, [first = '', ...others]: readonly string[], value: unknown): void {
  // Not a name that leads out of the object.
  if (first === '__proto__') throw new UsageError('--field: __proto__ is no field')
  if (others.length === 0) {
    to[first] = value
    return
  }
  const within = to[first]
  const next = typeof within === 'object' && within !== null ? (within as Fields) : {}
  to[first] = next
  set(next, others, value)
}
