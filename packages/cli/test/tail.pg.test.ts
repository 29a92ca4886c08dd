/** `deskwire tail`, as a process, at a service of its own. */
import { createClient } from '@deskwire/sdk'
import { expect, test } from 'vitest'
import { eventually } from '../../testbed/eventually.ts'
import { forward, startHttpServer } from '../../testbed/loopback.ts'
import type { Program } from '../../testbed/program.ts'
import { piped, startDeskwire } from '../../testbed/services.ts'
import { sharedService } from '../../testbed/shared-service.ts'
import { tailCommand } from '../src/commands/tail.ts'
import { CommandFailure } from '../src/failure.ts'
import { UsageError } from '../src/usage-error.ts'
import { runHere } from './run-here.ts'

const shared = sharedService()

async function desk() {
  const { token } = await shared().newOrganization()
  const at = ['--url', shared().url, '--key', token]
  return { at, token, client: createClient({ baseUrl: `${shared().url}/v1`, apiKey: token }) }
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the command printed; a wrong guess fails the test
const records = (stdout: string): any[] =>
  stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

const lines = ({ output }: Program) => output.stdout.split('\n').slice(0, -1)

test('it prints what happens as it happens, of all kinds or of those that are named, and goes on where it stopped', async () => {
  const { at, client } = await desk()
  const { id: customerId } = await client.customers.create({ name: 'Before' })
  await using all = startDeskwire(['tail', ...at])
  await using tickets = startDeskwire(['tail', 'tickets', '--json', ...at])
  await using two = startDeskwire(['tail', 'tickets', 'bookings', '--json', ...at])
  // A tail begins where the stream stands: something has to be made until each has begun.
  await eventually('all of them follow', async () => {
    await client.tickets.create({ customerId, subject: 'Are you there?' })
    return [all, tickets, two].every((one) => lines(one).length > 0)
  })
  const ticket = await client.tickets.create({ customerId, subject: 'The engine halts' })
  await eventually('it is told', () =>
    [all, tickets, two].every(({ output }) => output.stdout.includes(ticket.id)),
  )
  const ada = await client.customers.create({ name: 'Ada\u001b[31m' })
  await eventually('it is told', () => all.output.stdout.includes(ada.id))
  await client.customers.update(ada.id, { name: 'Ada' })
  await eventually('it is told', () => all.output.stdout.includes(`${ada.id} "Ada"`))
  await client.customers.delete(customerId)
  await eventually('it is told', () =>
    [all, tickets, two].every(({ output }) => output.stdout.includes('removed')),
  )

  const ended = await Promise.all([all.end('SIGINT'), tickets.end('SIGTERM'), two.end('SIGINT')])
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0])
  const stamp = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`
  expect(all.output.stdout).toMatch(
    new RegExp(`^${stamp}  written  ticket ${ticket.id} "The engine halts" new$`, 'm'),
  )
  // A name is no command to the terminal.
  expect(all.output.stdout).toContain(`customer ${ada.id} "Ada\\u001b[31m"\n`)
  expect(all.output.stdout).not.toContain('\u001b')
  expect(all.output.stdout).toMatch(new RegExp(`^${stamp}  written  customer ${ada.id} "Ada"$`, 'm'))
  expect(all.output.stdout).toMatch(new RegExp(`^${stamp}  removed  ticket ${ticket.id}$`, 'm'))
  expect(all.output.stdout).not.toContain('Before')
  expect(all.output.stderr).toMatch(/^to go on from here: --cursor \S+\n$/)
  for (const { output } of [tickets, two]) {
    expect(output.stderr).toBe('')
    const told = records(output.stdout)
    expect(told.at(-1)).toEqual({ object: 'tail_end', nextCursor: expect.any(String) })
    expect(new Set(told.slice(0, -1).map(({ object, resource }) => resource ?? object))).toEqual(
      new Set(['ticket']),
    )
    expect(told).toContainEqual({
      object: 'removed',
      id: ticket.id,
      resource: 'ticket',
      removedAt: expect.any(String),
    })
  }
  expect(records(tickets.output.stdout)).toContainEqual(
    expect.objectContaining({ id: ticket.id, status: 'new', object: 'ticket' }),
  )

  const [cursor] = records(tickets.output.stdout)
    .slice(-1)
    .map(({ nextCursor }) => nextCursor)
  const again = await runHere(['tail', 'tickets', '--cursor', cursor, '--once', '--json', ...at])
  expect([again.code, records(again.stdout)]).toEqual([0, [{ object: 'tail_end', nextCursor: cursor }]])
})

test('--once ends when it has caught up; --from-start and --since say where it begins', async () => {
  const { at, client } = await desk()
  const made = []
  for (const name of ['Ada', 'Grace', 'Edsger']) made.push(await client.customers.create({ name }))
  const since = made[0]?.updatedAt as string
  const told = [
    await runHere(['tail', '--from-start', '--once', '--json', ...at]),
    await runHere(['tail', 'customers', '--since', since, '--once', '--json', ...at]),
    await runHere(['tail', '--once', '--json', ...at]),
  ]
  expect(told.map(({ code, stderr }) => [code, stderr])).toEqual([
    [0, ''],
    [0, ''],
    [0, ''],
  ])
  const names = told.map(({ stdout }) =>
    records(stdout).flatMap(({ object, name }) => (object === 'customer' ? [name] : [])),
  )
  expect(names).toEqual([['Ada', 'Grace', 'Edsger'], ['Grace', 'Edsger'], []])
})

test('a service that does not answer is waited for, and that is said', async () => {
  const { token, client } = await desk()
  await client.customers.create({ name: 'Ada' })
  let answers = true
  await using proxy = await startHttpServer(async (request, response) => {
    if (!answers) return response.destroy()
    const { status, type, text } = await forward(request, shared().url)
    return response.writeHead(status, { 'content-type': type }).end(text)
  })
  await using tail = startDeskwire(['tail', '--from-start', '--url', proxy.url, '--key', token])
  await eventually('it has begun', () => tail.output.stdout.includes('Ada'))
  answers = false
  proxy.hangUp()
  await eventually('it says so', () =>
    /^127\.0\.0\.1:\d+ closed the connection before a complete answer .* Trying again in \d+\.\d s\.$/m.test(
      tail.output.stderr,
    ),
  )
  answers = true
  await client.customers.create({ name: 'Grace' })
  await eventually('it goes on', () => tail.output.stdout.includes('Grace'))
  expect((await tail.end('SIGINT')).code).toBe(0)
})

test('it ends when nobody reads it any more', async () => {
  const { at, client } = await desk()
  await client.customers.create({ name: 'Ada' })
  let over = false
  const ended = piped(['tail', '--from-start', ...at], '| head -n 1').finally(() => {
    over = true
  })
  await eventually('it has ended', async () => {
    await client.customers.create({ name: 'Grace' })
    return over
  })
  const { code, stdout, stderr } = await ended
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout.split('\n')).toEqual([expect.stringContaining('"Ada"'), ''])
})

test('what the key may not read, and what begins in two places, is refused', async () => {
  const { at, client } = await desk()
  const { token } = await client.apiKeys.create({ name: 'tickets alone', scopes: ['tickets:read'] })
  const ofTickets = ['--url', shared().url, '--key', token]
  const unreadable = await runHere(['tail', 'customers', ...ofTickets])
  expect(unreadable).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('customers:read') })
  const refusal = (...words: string[]) => expect(tailCommand.run(words)).rejects
  await refusal('tickets', 'customers', 'bookings', ...ofTickets).toThrow(
    new CommandFailure('the key may not read customers, bookings'),
  )
  await refusal('tickets', '--from-start', '--cursor', 'x', ...at).toThrow(UsageError)
  await refusal('ticket', ...at).toThrow('there is no kind "ticket"; there are: teammates, customers,')
})

test('output that cannot be written is reported once', async () => {
  const { token } = await shared().newOrganization()
  const words = ['tail', '--once', '--from-start', '--json', '--url', shared().url, '--key', token]
  expect(await piped(words, '> /dev/full')).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^deskwire: standard output cannot be written: ENOSPC[^\n]*\n$/),
  })
})
