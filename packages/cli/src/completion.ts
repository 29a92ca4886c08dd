/**
 * Scripts that complete `deskwire` in a shell. What can follow a command is read from its help, which names every
 * flag, so that nothing is said twice: a test holds each help against what the command accepts.
 */

export const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

/** What can be typed after a command's name. */
export interface Completion {
  /** `organizations create`. */
  readonly name: string
  readonly summary: string
  readonly flags: readonly string[]
  /** Words that are no flags, where they are few and known. */
  readonly words: readonly string[]
}

/** The flags that a help names: each begins a line. */
export function flagsIn(help: string): readonly string[] {
  return [...help.matchAll(/^ {2}(--[a-z0-9-]+)/gm)].map(([, flag = '']) => flag)
}

/** The script for a shell. */
export function completionScript(shell: Shell, commands: readonly Completion[]): string {
  switch (shell) {
    case 'bash':
      return bash(commands)
    case 'zsh':
      return zsh(commands)
    case 'fish':
      return fish(commands)
  }
}

/** Each beginning of a name with what may follow it: `organizations` is followed by `create`, `list` and so on. */
function nextWords(commands: readonly Completion[]): Map<string, readonly string[]> {
  const next = new Map<string, string[]>()
  const add = (before: string, word: string) => {
    const known = next.get(before) ?? []
    next.set(before, known.includes(word) ? known : [...known, word])
  }
  for (const { name } of commands) {
    const words = name.split(' ')
    for (const [n, word] of words.entries()) add(words.slice(0, n).join(' '), word)
  }
  for (const { name, flags, words } of commands) next.set(name, [...words, ...flags, '--help'])
  return next
}

/** A line of a shell's `case` for each beginning of a name. */
function casesOf(commands: readonly Completion[], line: (words: readonly string[]) => string): string {
  return [...nextWords(commands)].map(([before, words]) => `    '${before}') ${line(words)} ;;`).join('\n')
}

/** Names that are followed by the rest of a command's name, as a pattern of a shell. */
function groupsOf(commands: readonly Completion[]): string {
  return [
    ...new Set(commands.flatMap(({ name }) => (name.includes(' ') ? name.split(' ').slice(0, 1) : []))),
  ].join('|')
}

function bash(commands: readonly Completion[]): string {
  return `_deskwire() {
  local words= before= typed="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" -gt 1 ]; then before="\${COMP_WORDS[1]}"; fi
  case "$before" in
    ${groupsOf(commands)}) if [ "$COMP_CWORD" -gt 2 ]; then before="$before \${COMP_WORDS[2]}"; fi ;;
  esac
  case "$before" in
${casesOf(commands, (words) => `words='${words.join(' ')}'`)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$typed"))
  # The value of a flag may be a file.
  if [ \${#COMPREPLY[@]} -eq 0 ]; then COMPREPLY=($(compgen -f -- "$typed")); fi
}
complete -F _deskwire deskwire
`
}

function zsh(commands: readonly Completion[]): string {
  return `#compdef deskwire
_deskwire() {
  local before=
  local -a found
  if (( CURRENT > 2 )); then before="$words[2]"; fi
  case "$before" in
    ${groupsOf(commands)}) if (( CURRENT > 3 )); then before="$before $words[3]"; fi ;;
  esac
  case "$before" in
${casesOf(commands, (words) => `found=(${words.join(' ')})`)}
  esac
  # The value of a flag may be a file.
  compadd -- $found || _files
}
if [ "$funcstack[1]" = _deskwire ]; then _deskwire "$@"; else compdef _deskwire deskwire; fi
`
}

function fish(commands: readonly Completion[]): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "\\'")}'`
  const offer = (when: string, what: string) => `complete -c deskwire -n ${quoted(when)} ${what}`
  const lines = commands.flatMap(({ name, summary, flags, words }) => {
    const [first = '', second] = name.split(' ')
    const description = `-d ${quoted(summary)}`
    return [
      ...(second === undefined
        ? [offer('__deskwire_is', `-f -a ${first} ${description}`)]
        : [
            offer('__deskwire_is', `-f -a ${first}`),
            offer(`__deskwire_is ${first}`, `-f -a ${second} ${description}`),
          ]),
      ...flags.map((flag) => offer(`__deskwire_begins ${name}`, `-l ${flag.slice(2)}`)),
      ...(words.length === 0 ? [] : [offer(`__deskwire_is ${name}`, `-f -a ${quoted(words.join(' '))}`)]),
    ]
  })
  return `function __deskwire_is
  set -l typed (commandline -opc)[2..-1]
  test "$typed" = "$argv"
end
function __deskwire_begins
  set -l typed (commandline -opc)[2..-1]
  test "$typed[1..$(count $argv)]" = "$argv"
end
${lines.join('\n')}
`
}
