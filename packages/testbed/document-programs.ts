/** Runs the programs in documents as they are shown. */
import { type Program, startProgram } from './program.ts'
import { root, textOf } from './repository.ts'
import { type Environment, environment } from './services.ts'

/** `document`: a path from the root. */
export function blocksOf(document: string, language: string): string[] {
  const blocks = textOf(document).matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))
  return [...blocks].map(([, block = '']) => block)
}

/** Throws unless exactly one block of the language has this text. */
export function blockWith(document: string, language: string, text: string): string {
  const [block, ...others] = blocksOf(document, language).filter((one) => one.includes(text))
  if (block === undefined || others.length > 0)
    throw new Error(`${document} has ${others.length + (block === undefined ? 0 : 1)} blocks with ${text}`)
  return block
}

/** Runs where packages are found by their names. */
export function startSource(
  source: string,
  settings: Environment = {},
  type: 'module' | 'module-typescript' = 'module',
): Program {
  const words = ['--disable-warning=ExperimentalWarning', `--input-type=${type}`]
  return startProgram(process.execPath, words, { cwd: root, env: environment(settings), input: source })
}

/** Runs a program to its end, and returns its output. */
export async function run(...source: Parameters<typeof startSource>): Promise<string> {
  const { ended, output } = startSource(...source)
  await ended
  return output.all
}
