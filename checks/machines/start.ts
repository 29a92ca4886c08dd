/**
 * `node checks/machines/start.ts [--ctrl-c] COMMAND …`: what a new user does with a service. The command, `npm start`, prints an address and a
 * key; a customer is created and read back; SIGTERM, or SIGINT to its group as a terminal sends it, ends the command, and no process is left,
 * for which it needs a namespace of processes.
 * Prints one line with what was seen; the exit code is 0 where all of that worked.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** Milliseconds; an installation may be a part of the command. */
const deadline = 300_000

const byTerminal = process.argv[2] === '--ctrl-c'
const [command = 'npm', ...args] = process.argv.slice(byTerminal ? 3 : 2)
const before = new Set(processes())
const child = spawn(command, args, { detached: byTerminal, stdio: ['ignore', 'pipe', 'pipe'] })
let said = ''
for (const stream of [child.stdout, child.stderr]) {
  stream.on('data', (chunk) => {
    said += chunk
  })
}
const fault = await tryService(child).catch((error: Error) => error.message)
child.kill('SIGKILL')
console.log(fault ?? 'works')
process.exit(fault === null ? 0 : 1)

/** Null, or what did not work. */
async function tryService(program: ChildProcess): Promise<string | null> {
  const hasEnded = () => program.exitCode !== null || program.signalCode !== null
  const hasStarted = await until(() => /listening on/.test(said) || hasEnded())
  const url = /listening on (http\S+)/.exec(said)?.[1]
  const key = /\bdwk_\w+/.exec(said)?.[0] ?? process.env.DESKWIRE_BOOTSTRAP_KEY
  if (hasEnded()) return `ends with ${program.exitCode ?? program.signalCode}: ${complaint()}`
  if (!hasStarted || url === undefined || key === undefined) return `does not start: ${complaint()}`
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'Zoë' })
  const created = await fetch(`${url}/v1/customers`, { method: 'POST', headers, body })
  const customer = (await created.json()) as { id: string; name: string }
  if (created.status !== 201) return `creating a customer: ${created.status} ${JSON.stringify(customer)}`
  const read = await fetch(`${url}/v1/customers/${customer.id}`, { headers })
  if ((await read.text()) !== JSON.stringify(customer)) return `reading the customer: ${read.status}`
  if (byTerminal) process.kill(-(program.pid as number), 'SIGINT')
  else program.kill('SIGTERM')
  if (!(await until(hasEnded))) return `${byTerminal ? 'Ctrl-C' : 'SIGTERM'} does not end it`
  let left: readonly string[] = []
  await until(() => {
    left = processes().filter((id) => !before.has(id))
    return left.length === 0
  }, 20_000)
  return left.length === 0 ? null : `it leaves ${left.map(nameOf).join(', ')}`
}

/** The product's own line, or Node's about its end, or the last that was written. */
function complaint(): string {
  const lines = said.split('\n').filter((line) => line.trim() !== '')
  const first = (beginning: RegExp) => lines.find((line) => beginning.test(line))
  return first(/^deskwire: /) ?? first(/^# Fatal /) ?? lines.at(-1) ?? 'nothing is said'
}

async function until(isTrue: () => boolean, milliseconds = deadline): Promise<boolean> {
  for (const end = Date.now() + milliseconds; Date.now() < end; ) {
    if (isTrue()) return true
    await delay(100)
  }
  return isTrue()
}

/** Those that still run. */
function processes(): readonly string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && !/^State:\tZ/m.test(statusOf(name)))
}

function nameOf(id: string): string {
  return /^Name:\t(.*)$/m.exec(statusOf(id))?.[1] ?? id
}

/** Empty where it has ended. */
function statusOf(id: string): string {
  try {
    return readFileSync(`/proc/${id}/status`, 'utf8')
  } catch {
    return ''
  }
}
