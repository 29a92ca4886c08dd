import type { Command } from '../command.ts'
import { type Completion, completionScript, flagsIn, shells } from '../completion.ts'
import { parseFlags } from '../flags.ts'
import { printOut } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

export const completionCommand: Command = {
  help: () => `deskwire completion SHELL: print a script that completes commands and flags.

  SHELL                  one of ${shells.join(', ')}

Examples:
  deskwire completion bash > ~/.local/share/bash-completion/completions/deskwire
  deskwire completion zsh > ~/.zsh/completions/_deskwire      (a directory of $fpath)
  deskwire completion fish > ~/.config/fish/completions/deskwire.fish
`,
  words: () => shells,
  async run(args) {
    const { words } = parseFlags(args, { texts: [], switches: [], words: 1 })
    const shell = shells.find((name) => name === words[0])
    if (shell === undefined) throw new UsageError(`completion needs a shell, one of ${shells.join(', ')}`)
    const { commands, loadCommand } = await import('../commands.ts')
    const completions = await Promise.all(
      commands.map(async (named): Promise<Completion[]> => {
        const command = await loadCommand(named)
        if (command === null) return []
        const { name, summary } = named
        return [{ name, summary, flags: flagsIn(command.help()), words: command.words?.() ?? [] }]
      }),
    )
    printOut(completionScript(shell, completions.flat()))
  },
}
