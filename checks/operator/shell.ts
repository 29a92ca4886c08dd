/** A root shell on a machine that stays open from step to step. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'

interface Shell {
  /** Returns the output; the first failing command ends the shell and rejects with the end of the output. */
  run(commands: string): Promise<string>
  end(): void
}

export function openShell(container: string, directory: string): Shell {
  const flags = ['--interactive', `--workdir=${directory}`, '--env=DEBIAN_FRONTEND=noninteractive']
  const child = spawn('podman', ['exec', ...flags, container, 'bash', '-e', '-o', 'pipefail'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let printed: string[] = []
  let done: ((line: string | null) => void) | null = null
  createInterface({ input: child.stdout }).on('line', (line) => {
    printed.push(line)
    if (process.env.DEPLOY_LOG !== undefined) console.log(`    ${line}`)
    done?.(line)
  })
  child.once('close', () => done?.(null))
  child.stdin.on('error', () => {}) // it has ended
  child.stdin.write('exec 2>&1\n')
  return {
    async run(commands) {
      const mark = randomUUID()
      printed = []
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      done = (line) => {
        if (line === null) reject(new Error(`a step failed:\n${commands}\n${printed.slice(-30).join('\n')}`))
        if (line === mark) resolve()
      }
      // From a file of their own, so that no command reads the next one as its input.
      child.stdin.write(
        `cat > /run/step <<'${mark}'\n${commands}\n${mark}\n. /run/step < /dev/null\necho\necho ${mark}\n`,
      )
      await promise
      done = null
      return printed.slice(0, -1).join('\n')
    },
    end: () => child.stdin.end(),
  }
}
