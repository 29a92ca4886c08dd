import { baseUrlOf } from '../client.ts'
import type { Command } from '../command.ts'
import { createDesk } from '../conform/desk.ts'
import { type Finding, rules, tryRules } from '../conform/run.ts'
import { CommandFailure, exitCodes } from '../failure.ts'
import { parseFlags } from '../flags.ts'
import { plain, printOut } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

export const conformCommand: Command = {
  help: () => `deskwire conform BASE_URL --key KEY: try the public rules of lists and syncs, ${rules.length} of them, from outside.

  BASE_URL               the deployment, for example https://desk.example/v1
  --key KEY              an API key that reads and writes customers and tickets (DESKWIRE_API_KEY)
  --keep                 leave what was made there; it is tagged conform-…
  --json                 print JSON

It makes customers and tickets, tagged conform-…, and deletes them in the end: endpoints that are subscribed to such events
get them. Others may work there meanwhile. It reads all customers and tickets once.

Exit codes: 0 when every rule holds; 3 when one does not; 1 when the deployment cannot be tried; 2 for a wrong command line.

Example:
  deskwire conform https://desk.example/v1 --key dwk_…
`,
  async run(args) {
    const { texts, switches, words } = parseFlags(args, {
      texts: ['key'],
      switches: ['keep', 'json'],
      words: 1,
    })
    const [url] = words
    const key = texts.key ?? process.env.DESKWIRE_API_KEY
    if (url === undefined)
      throw new UsageError('conform needs the base address, for example https://desk.example/v1')
    if (!key)
      throw new UsageError('conform needs --key: an API key that reads and writes customers and tickets')
    const desk = createDesk(baseUrlOf(url, 'BASE_URL'), key)
    await requireAccess(desk)
    const print = (text: string) => void (switches.json || printOut(`${text}\n`))
    let left: readonly string[] = []
    const findings = await tryRules(desk, (finding) => print(line(finding))).finally(async () => {
      if (!switches.keep) left = await desk.cleanUp()
    })
    const broken = findings.filter(({ holds }) => !holds)
    if (switches.json) printOut(`${JSON.stringify({ url, tag: desk.tag, findings, left })}\n`)
    print(`\n${findings.length - broken.length} of ${findings.length} rules hold.`)
    if (switches.keep) print(`What was made is tagged ${desk.tag}.`)
    if (left.length > 0) print(`Could not be deleted again: ${left.join(', ')}`)
    if (broken.length > 0)
      throw new CommandFailure(`${broken.length} of ${findings.length} rules do not hold`, exitCodes.found)
  },
}

function line({ rule, says, section, holds, seen }: Finding): string {
  const text = `${holds ? 'holds ' : 'BROKEN'}  ${rule.padEnd(22)}  ${says} (${section})`
  return holds ? text : `${text}\n        seen: ${plain(seen ?? '')}`
}

/** A key that cannot do what the rules need would make all of them look broken. */
async function requireAccess(desk: ReturnType<typeof createDesk>): Promise<void> {
  for (const path of ['/customers', '/tickets']) {
    const { status, json } = await desk.call('GET', path, { limit: 1 })
    if (status === 200 && Array.isArray(json?.data)) continue
    const detail = typeof json?.detail === 'string' ? `: ${json.detail}` : ''
    throw new CommandFailure(
      `GET ${path} answered ${status}${detail}; is this the base address of a desk, and the key one of it?`,
    )
  }
}
