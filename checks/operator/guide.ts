/** Reads the steps of a guide. */
import { readFileSync } from 'node:fs'

interface Step {
  /** Of its section. */
  readonly title: string
  readonly commands: string
}

/** The blocks that are marked `sh`, in order. Throws where the guide has none. */
export function stepsOf(guide: URL): readonly Step[] {
  const sections = readFileSync(guide, 'utf8').split(/^## /m).slice(1)
  const steps = sections.flatMap((section) =>
    [...section.matchAll(/^```sh\n(.*?)^```/gms)].map(([, commands = '']) => ({
      title: section.slice(0, section.indexOf('\n')),
      commands,
    })),
  )
  if (steps.length === 0) throw new Error(`${guide.pathname} has no steps`)
  return steps
}
