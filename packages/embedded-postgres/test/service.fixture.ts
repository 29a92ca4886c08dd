// A program that embeds the server and can be killed: starts the embedded database and prints what happens as JSON
// lines. A line `stop` on its input stops it; with --idle it reads nothing, and nothing must keep it running.
import { createInterface } from 'node:readline'
import { launcher } from './launcher.fixture.ts'

const [dataDir, ...flags] = process.argv.slice(2)
const say = (event: Record<string, unknown>) => process.stdout.write(`${JSON.stringify(event)}\n`)

if (flags.includes('--windows')) Object.defineProperty(process, 'platform', { value: 'win32' })
process.on('SIGINT', () => say({ event: 'interrupted' }))

const options = {
  dataDir: dataDir!,
  log: (level: string, message: string, fields?: Record<string, unknown>) =>
    say({ event: 'log', level, message, fields }),
  onBegun: () => say({ event: 'begun' }),
}
const refused = (error: unknown) => {
  const { name, message } = error as Error
  say({ event: 'refused', name, message })
}

try {
  const database = await launcher.start(options)
  const { connection, adopted } = database
  say({ event: 'ready', connection, adopted, dataDir: database.dataDir })
  database.lost.then((reason) => say({ event: 'lost', reason }))
  if (flags.includes('--twice')) await launcher.start(options).then(() => say({ event: 'doubled' }), refused)
  if (!flags.includes('--idle')) {
    for await (const line of createInterface(process.stdin)) {
      if (line !== 'stop') continue
      await Promise.all([database.stop(), database.stop()])
      await database.stop()
      say({ event: 'stopped' })
      break
    }
    process.stdin.destroy()
  }
} catch (error) {
  refused(error)
  process.exitCode = 1
}
