import type { Command } from '../command.ts'
import { parseFlags } from '../flags.ts'
import { attend, placeFlags, placeHelp, readPlace } from '../listen/attend.ts'
import { defaultDirectory, keepAuthority } from '../listen/authority.ts'
import { followLog, followsLog } from '../listen/follow-log.ts'
import { forward, statusFor } from '../listen/forward.ts'
import { humanLine, jsonLine } from '../listen/lines.ts'
import type { Received } from '../listen/receiver.ts'
import { printOut } from '../terminal.ts'
import { stopSignal } from '../until-stopped.ts'
import { UsageError } from '../usage-error.ts'

export const listenCommand: Command = {
  help: () => `deskwire listen: an HTTPS receiver on 127.0.0.1 that verifies each delivery, prints it and answers 204,
or passes it on to an application and answers what that does.

  --forward-to URL       pass each delivery on, for example to http://localhost:3000/hook
  --log                  read the service's events instead, as happens where the service runs on another machine
  --cursor CURSOR        with --log: go on where an earlier run stopped
  --ca                   print the path of the authority's certificate, made if need be, and end
  --json                 one JSON object a line
${placeHelp()}
With --url and --key it registers an endpoint for itself, learns the secret, and deletes the endpoint on Ctrl-C. Without,
register https://127.0.0.1:PORT/ yourself and give --secret.

With --forward-to the application gets the same bytes and headers as from the service, signed with a secret of this machine, which is
printed at the start and stays the same. It is printed what it answered, a line an event, and the service is answered alike (502 when
the application did not answer): what fails is tried again as anywhere. Pings are answered here. When the endpoint is deleted it is registered anew; when
the service does not answer, the command says so and waits.

A service delivers to public addresses only. For this receiver, start it with deskwire serve --dev. A service on another machine cannot
reach this one: the events that the key may read are followed, and each is passed on once and in order, whatever the application
answers. Nothing is registered then. While the service does not answer, the command waits. When it is stopped, standard error has the
cursor to go on from, with --json the last line, {"object":"listen_end","nextCursor":…}.

Exit codes: 0 when it was stopped; 1 when the service refuses the key or cannot deliver here; 2 for a wrong command line.

Example:
  deskwire listen --url http://127.0.0.1:8080/v1 --key dwk_… --events ticket.created --forward-to http://localhost:3000/hook
`,
  async run(args) {
    const { texts, switches } = parseFlags(args, {
      texts: [...placeFlags, 'cursor'],
      switches: ['json', 'ca', 'log'],
    })
    if (switches.ca) {
      printOut(`${(await keepAuthority(texts.dir ?? defaultDirectory())).caPath}\n`)
      return
    }
    const place = await readPlace(texts)
    const json = switches.json === true
    const receive = receiveInto(place.forwardTo, json ? jsonLine : humanLine)
    if (switches.log && place.target === null)
      throw new UsageError('--log needs --url and --key: the service whose events are followed')
    const { cursor } = texts
    if (followsLog(place, switches.log === true)) {
      await followLog(place, { cursor, json, receive, until: stopSignal() })
      return
    }
    if (cursor !== undefined) throw new UsageError('--cursor needs --log: deliveries have no cursor')
    await attend(place, { description: 'deskwire listen', json, receive, until: stopSignal() })
  },
}

/** Prints each delivery, and passes it on where that is wanted. */
function receiveInto(forwardTo: string | null, line: typeof humanLine) {
  const seen = new Set<string>()
  return async (received: Received): Promise<number> => {
    const { verdict, eventId, headers, body } = received
    // Only a verified id can be relied on.
    const repeat = verdict.ok && seen.has(eventId)
    if (verdict.ok) seen.add(eventId)
    // The application need not know what it is that this command tries itself with.
    const isPing = verdict.ok && verdict.event.type === 'ping'
    const forwarded = forwardTo === null || isPing ? null : await forward(forwardTo, headers, body)
    printOut(line(received, repeat, forwarded))
    return forwarded === null ? 204 : statusFor(forwarded)
  }
}
