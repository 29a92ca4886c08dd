import { commands, groups } from '../../packages/cli/src/commands.ts'
import { exitCodeMeanings, exitCodes } from '../../packages/cli/src/failure.ts'
import { madeBy, table } from './markdown.ts'

/** Every command with its help; of `serve`, whose flags are the settings, the name alone. */
export async function commandsPage(): Promise<string> {
  const meanings = Object.entries(exitCodeMeanings).map(([name, means]) => [
    `\`${exitCodes[name as keyof typeof exitCodes]}\``,
    means,
  ])
  const helps = await Promise.all(
    commands
      .filter(({ name, operation }) => name !== 'serve' && operation === undefined)
      .map(async ({ name, load }) => `## ${name}\n\n\`\`\`\n${(await load()).help()}\`\`\`\n`),
  )
  const known = Object.entries(groups).flatMap(([group, title]) =>
    commands
      .filter((one) => one.group === group && one.operation === undefined)
      .map(({ name, summary }, n) => [n === 0 ? title : '', linked(name), summary]),
  )
  return `${madeBy}
# Commands

The commands of \`deskwire\`. \`deskwire COMMAND --help\` prints the same text. A flag that names a service or
a key wins over its environment variable.

${table(['', 'command', ''], known)}

## Commands of the API

Each makes one call of the API: [its method](methods.md) in the form of \`tickets list\`. Flags are the parameters and fields of the call, \`--customer-id\` for \`customerId\`; ids are words. \`-f\` and \`--data\`
give other fields. \`deskwire tickets list --help\` names them. Any other call: [\`deskwire api\`](#api).

## Exit codes

They mean the same of every command, and a script can rely on them:

${table(['code', 'meaning'], meanings)}

Results go to standard output; failures are one line on standard error. With \`--json\` standard output is one JSON object, or one
a line where results come as they arise. Progress is shown only where standard error is a terminal; headings of tables are bold where standard output is
one and \`NO_COLOR\` is not set.
Control characters of a server or a file are shown as JSON writes them (\`\\u001b\`); files, and the output of \`export\` into a pipe, have every byte.

${helps.join('\n')}`
}

function linked(name: string): string {
  return name === 'serve' ? '[`serve`](settings.md)' : `[\`${name}\`](#${name.replaceAll(' ', '-')})`
}
