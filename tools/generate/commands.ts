import { commands } from '../../packages/cli/src/commands.ts'
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
      .filter(({ name }) => name !== 'serve')
      .map(async ({ name, load }) => `## ${name}\n\n\`\`\`\n${(await load()).help()}\`\`\`\n`),
  )
  const known = commands.map(({ name, summary }) => [linked(name), summary])
  return `${madeBy}
# Commands

What \`deskwire\` does from a command line. \`deskwire COMMAND --help\` prints what stands below. A flag that names a service or
a key wins over its environment variable.

${table(['command', ''], known)}

## Exit codes

They mean the same of every command, and a script can rely on them:

${table(['code', 'meaning'], meanings)}

Results go to standard output; failures are one line on standard error. With \`--json\` standard output is one JSON object, or one
a line where results come as they arise. Progress is shown only where standard error is a terminal, and nothing is coloured.
Control characters of a server or a file are shown as JSON writes them (\`\\u001b\`); files, and what \`export\` writes into a pipe, have every byte.

${helps.join('\n')}`
}

function linked(name: string): string {
  return name === 'serve' ? '[`serve`](settings.md)' : `[\`${name}\`](#${name.replaceAll(' ', '-')})`
}
