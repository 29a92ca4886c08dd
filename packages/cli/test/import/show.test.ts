/** What a person sees of an import: a bar on a terminal and nowhere else, and bad lines up to a point. */
import { expect, test } from 'vitest'
import { barText, createShow } from '../../src/import/show.ts'

const counts = { rows: 1_500, created: 1_497, updated: 0, unchanged: 0, replayed: 0, rejected: 3 }
const reject = (line: number) => ({ line, cells: [], error: 'email: must be one' })

function startShow(isTTY: boolean) {
  let time = 0
  const output = {
    isTTY,
    text: '',
    write(text: string) {
      output.text += text
    },
    line(text: string) {
      if (isTTY) output.text += `<${text}>`
    },
  }
  const show = createShow(output, { total: 4_000, done: 500, now: () => time })
  const pass = (ms: number) => {
    time += ms
  }
  return { output, show, pass }
}

test('the bar says how far it is, how fast this run is, and how many lines were rejected', () => {
  expect(barText(counts, 4_000, 812.4)).toBe(
    '[#########···············]  37 %  1,500 of 4,000 rows, 812/s, 3 rejected',
  )
  expect(barText({ ...counts, rows: 0, rejected: 0 }, 0, 0)).toMatch(/^\[#{24}\] 100 % {2}0 of 0 rows, 0\/s$/)
})

test('a terminal sees it, always on the same line, and a file does not', () => {
  const terminal = startShow(true)
  terminal.pass(2_000)
  terminal.show.update(counts, [reject(7)])
  terminal.show.end()
  const bar = barText(counts, 4_000, 500)
  expect(terminal.output.text).toBe(`<>line 7: email: must be one\n<${bar}><>`)

  const file = startShow(false)
  file.show.update(counts, [reject(7)])
  file.show.end()
  expect(file.output.text).toBe('line 7: email: must be one\n')
})

test('of many bad lines the first twenty are told', () => {
  const { output, show } = startShow(false)
  for (let line = 2; line < 102; line++) show.update(counts, [reject(line)])
  const lines = output.text.trimEnd().split('\n')
  expect(lines).toHaveLength(21)
  expect(lines.slice(-2)).toEqual(['line 21: email: must be one', 'further lines are not shown'])
})
