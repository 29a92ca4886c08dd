/** The parts of an error that may be logged: where and why it failed, but no data. */

/** PostgreSQL's `detail`, `where` and `hint` repeat rows and values, so they are left out. */
const named = ['code', 'severity', 'schema', 'table', 'column', 'constraint', 'routine'] as const

/** SQLSTATE class 22, data exceptions: their message quotes the value. */
const dataException = /^22[0-9A-Z]{3}$/

export function loggable(error: Error): Record<string, unknown> {
  const properties = error as unknown as Readonly<Record<string, unknown>>
  const shown: Record<string, unknown> = { type: error.name }
  for (const name of named) if (properties[name] !== undefined) shown[name] = properties[name]
  const frames = error.stack?.match(/^\s+at .*$/gm)?.join('\n') ?? ''
  if (!dataException.test(String(properties.code))) shown.message = error.message
  return { ...shown, stack: frames }
}
