/** The programs that the documents show, run as they show them. */
import { type Program, startProgram } from './program.ts'
import { root, textOf } from './repository.ts'
import { type Environment, environment } from './services.ts'

/** The blocks of one language in a document, which is named from the root. */
export function blocksOf(document: string, language: string): string[] {
  const blocks = textOf(document).matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))
  return [...blocks].map(([, block = '']) => block)
}

/** The only block of a language that has this text. Throws where there is none, or several. */
export function blockWith(document: string, language: string, text: string): string {
  const [block, ...others] = blocksOf(document, language).filter((one) => one.includes(text))
  if (block === undefined || others.length > 0)
    throw new Error(`${document} has ${others.length + (block === undefined ? 0 : 1)} blocks with ${text}`)
  return block
}

/** Starts a program; from where it runs the packages are found by their names. */
export function startSource(
  source: string,
  settings: Environment = {},
  type: 'module' | 'module-typescript' = 'module',
): Program {
  const words = ['--disable-warning=ExperimentalWarning', `--input-type=${type}`]
  return startProgram(process.execPath, words, { cwd: root, env: environment(settings), input: source })
}

/** Runs a program to its end, and answers what it said. */
export async function run(...source: Parameters<typeof startSource>): Promise<string> {
  const { ended, output } = startSource(...source)
  await ended
  return output.all
}
