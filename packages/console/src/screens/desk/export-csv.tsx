/** Saves every row that a list is filtered to as a CSV file. */
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { answerOf, api } from '../../api/client.ts'
import { Button } from '../../design/button.tsx'
import { saveAs } from '../../design/save-as.ts'
import { say, sayProblem } from '../../design/toasts.tsx'
import { csvHeader, csvRow } from './csv.ts'

type Exported = 'bookings' | 'conversations' | 'customers' | 'deliveries' | 'teammates' | 'tickets'

/** Rows between two looks at how far it is; a part of the file, which the browser may keep outside of memory. */
const together = 500

export function useExportCsv(
  kind: Exported,
  filters: object,
): { readonly action: { readonly title: string; readonly run: () => void }; readonly progress: ReactNode } {
  const [count, setCount] = useState<number | null>(null)
  const running = useRef<AbortController>(null)
  useEffect(() => () => running.current?.abort(), [])
  async function run(): Promise<void> {
    running.current?.abort()
    running.current = new AbortController()
    const { signal } = running.current
    const parts: Blob[] = []
    let lines: string[] = []
    let done = 0
    async function read(): Promise<void> {
      for await (const row of api()[kind].list(filters, { signal, retries: 5 }) as AsyncIterable<object>) {
        if (done === 0) lines.push(csvHeader({ ...row }))
        lines.push(csvRow({ ...row }))
        done++
        if (done % together !== 0) continue
        parts.push(new Blob(lines))
        lines = []
        setCount(done)
      }
    }
    setCount(0)
    try {
      await answerOf(read())
      saveAs(`${kind}.csv`, new Blob([...parts, ...lines], { type: 'text/csv' }))
      say(done === 1 ? '1 row exported' : `${done.toLocaleString('en')} rows exported`)
    } catch (error) {
      if (!signal.aborted) sayProblem('Could not export', error)
    } finally {
      setCount(null)
    }
  }
  return {
    action: { title: 'Export as CSV', run: () => void run() },
    progress: count !== null && (
      <p role="status">
        {`Exporting: ${count.toLocaleString('en')} rows. `}
        <Button size="s" onClick={() => running.current?.abort()}>
          Cancel
        </Button>
      </p>
    ),
  }
}
