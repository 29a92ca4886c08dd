import { clientFlags, clientHelp, clientOf, requireTarget } from '../client.ts'
import type { Command } from '../command.ts'
import { parseFlags } from '../flags.ts'
import { plain, printOut } from '../terminal.ts'
import { eventTypes, type Step, triggerOf } from '../triggers.ts'
import { UsageError } from '../usage-error.ts'

export const triggerCommand: Command = {
  help: () => `deskwire trigger EVENT_TYPE: make a change that causes that event, and print what was made.

  EVENT_TYPE             one of ${eventTypes.join(', ')}
  --json                 one JSON object a line
${clientHelp}
The key needs the write scopes of the changed kinds. Created objects stay, except where the event is their removal.

Example:
  deskwire trigger ticket.created --url http://127.0.0.1:8080/v1 --key dwk_…
`,
  words: () => eventTypes,
  async run(args) {
    const { texts, switches, words } = parseFlags(args, {
      texts: clientFlags,
      switches: ['json'],
      words: 1,
    })
    const [type] = words
    const trigger = type === undefined ? null : triggerOf(type)
    if (trigger === null) {
      const wrong =
        type === undefined ? 'trigger needs an event type' : `there is no event type ${JSON.stringify(type)}`
      throw new UsageError(`${wrong}; there are: ${eventTypes.join(', ')}`)
    }
    const client = clientOf(requireTarget('trigger', texts))
    await trigger(client, (step) => {
      printOut(switches.json ? `${JSON.stringify(step)}\n` : line(step))
    })
  },
}

function line({ did, object, id, events }: Step): string {
  const caused = events.length === 0 ? 'no event' : events.join(', ')
  return `${plain(`${did} ${object} ${id}: ${caused}`)}\n`
}
