/** The programs that the documents show, run as they show them. */
import { type ChildProcess, spawn } from 'node:child_process'
import { root, textOf } from './repository.ts'

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

interface Program {
  readonly process: ChildProcess
  /** What it has said so far, on both streams. */
  readonly output: string
  readonly end: Promise<{ readonly code: number | null; readonly output: string }>
}

/** Starts a program; from where it runs the packages are found by their names. */
export function startProgram(
  program: string,
  environment: Readonly<Record<string, string>> = {},
  type: 'module' | 'module-typescript' = 'module',
): Program {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', `--input-type=${type}`], {
    env: { ...process.env, ...environment },
    cwd: root,
    stdio: 'pipe',
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  child.stdin.end(program)
  return {
    process: child,
    get output() {
      return output
    },
    end: new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code) => resolve({ code, output }))
    }),
  }
}

/** Runs a program to its end, and answers what it said. */
export async function run(...program: Parameters<typeof startProgram>): Promise<string> {
  return (await startProgram(...program).end).output
}
