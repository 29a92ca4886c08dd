/** What a command of the command line is. */
import type { Operation } from './resources/operation.ts'

export interface Command {
  help(): string
  run(args: readonly string[]): Promise<void>
  /** What its own words can be, where those are few and known: for the completion of a shell. */
  words?(): readonly string[]
}

export type CommandGroup = 'run' | 'develop' | 'data' | 'administer' | 'diagnose'

export interface NamedCommand {
  /** The words that name it. */
  readonly name: string
  readonly group: CommandGroup
  readonly summary: string
  /** The call of the API that it makes, where it is made from one. */
  readonly operation?: Operation
  load(): Promise<Command>
}
