import { UsageError } from './usage-error.ts'

/** The id as the service writes it. @throws UsageError that says what `asked` for one. */
export function readId(text: string | undefined, what: string): string {
  if (text === undefined || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text))
    throw new UsageError(`${what} (a UUID)`)
  return text.toLowerCase()
}
