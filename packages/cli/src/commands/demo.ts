import { clientFlags, clientHelp, readTarget } from '../client.ts'
import type { Command } from '../command.ts'
import { type DemoOptions, type DemoProgress, runDemo } from '../demo/run.ts'
import { startServer, temporaryDirectory } from '../demo/server.ts'
import { CommandFailure } from '../failure.ts'
import { parseFlags } from '../flags.ts'
import { defaultDirectory, keepAuthority } from '../listen/authority.ts'
import { printOut } from '../terminal.ts'

export const demoCommand: Command = {
  help: () => `deskwire demo: start a service of its own for a moment, change things, and show each change arriving both ways,
as a verified delivery and in the sync, with the same bytes. The worker is killed half-way, and nothing is lost. It
leaves nothing behind.

  --json                 one JSON object a line
  --dir DIR              with --url: the receiver's certificate authority (listen in DESKWIRE_DATA_DIR, ./data/listen)
${clientHelp}
With --url and --key it uses that service instead, which has to be started as deskwire listen --help says, and kills
nothing.

Exit codes: 0 when everything arrived; 1 when something did not; 2 for a wrong command line.

Example:
  deskwire demo
`,
  async run(args) {
    const { texts, switches } = parseFlags(args, { texts: [...clientFlags, 'dir'], switches: ['json'] })
    // Without the flag the demo is one of its own, whatever the environment names.
    const target = texts.url === undefined && texts.key === undefined ? null : readTarget(texts)
    const tell = (progress: DemoProgress | { step: 'server'; url: string }) => {
      printOut(switches.json ? `${JSON.stringify(progress)}\n` : sentence(progress))
    }
    const startedAt = Date.now()
    const signal = interrupted()
    const common = { tell, signal } satisfies Partial<DemoOptions>
    if (target !== null) {
      const authority = await keepAuthority(texts.dir ?? defaultDirectory())
      tell({ step: 'server', url: target.baseUrl })
      await runDemo({ ...common, target, authority, workerPid: () => null })
    } else {
      await using directory = await temporaryDirectory()
      const authority = await keepAuthority(directory.path)
      if (!switches.json) printOut('Starting a service in a directory that is removed at the end.\n')
      await using server = await startServer(directory.path, authority.caPath)
      tell({ step: 'server', url: server.target.baseUrl })
      await runDemo({ ...common, target: server.target, authority, workerPid: server.workerPid })
    }
    const ms = Date.now() - startedAt
    printOut(
      switches.json
        ? `${JSON.stringify({ step: 'done', ok: true, ms })}\n`
        : `\nEverything arrived both ways, and nothing was lost. ${(ms / 1_000).toFixed(1)} s.\n`,
    )
  },
}

function sentence(progress: DemoProgress | { step: 'server'; url: string }): string {
  switch (progress.step) {
    case 'server':
      return `Service    ${progress.url}\n`
    case 'receiver':
      return `Receiver   ${progress.url}, registered for ${progress.eventTypes} event types\n\n${row('event', 'at the receiver', 'in the sync')}`
    case 'event': {
      const { type, count, ms, bytes, stamp } = progress
      return row(
        count > 1 ? `${type} x ${count}` : type,
        `verified, ${ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`}`,
        `same ${bytes} bytes, ${stamp}`,
      )
    }
    case 'killed':
      return `\nkill -9 ${progress.pid}: the worker, in the middle of an attempt, with ${progress.pending} tickets under way.\n`
    case 'not killed':
      return '\nThe worker of that service is not killed; run deskwire demo without --url to see that.\n'
    case 'again':
      return `Its successor sent that event again after ${(progress.afterMs / 1_000).toFixed(1)} s, under the same id: ${progress.eventId}\n\n`
    case 'deleted':
      return '\nAda is deleted, and with her the ticket, in one commit.\n\n'
    case 'exact':
      return `${progress.kind === 'customer' ? '\n' : ''}The copy of ${progress.kind}s is exact: ${progress.count}, digest ${progress.digest}\n`
  }
}

function row(...[event, receiver, sync]: readonly [string, string, string]): string {
  return `${event.padEnd(24)}${receiver.padEnd(28)}${sync}\n`
}

/** Ctrl-C ends the demo after it has cleaned up. */
function interrupted(): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => controller.abort(new CommandFailure('the demo was interrupted')))
  }
  return controller.signal
}
