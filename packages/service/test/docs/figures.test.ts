/** The figures on the first page are those of the last measurements, each under the command that makes it. */
import { expect, test } from 'vitest'
import { textOf } from '../../../testbed/repository.ts'

/** The rows of the table below a heading, cell by cell. */
function rowsBelow(text: string, heading: string): string[][] {
  const [, section = ''] = new RegExp(`\n## ${heading}\n([\\s\\S]*?)\n## `).exec(text) ?? []
  const lines = section.split('\n').filter((line) => line.startsWith('|'))
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

test('each figure of the README is in the results of the group that it names', () => {
  const results = textOf('bench/RESULTS.md')
    .split('\n')
    .filter((line) => line.startsWith('| '))
  const figures = rowsBelow(textOf('README.md'), 'Figures')
  expect(figures.length).toBe(3)
  const missing = figures.filter(([, figure = '', command = '']) => {
    const group = command.replaceAll('`', '').split(' ')[0]
    return !results.some((line) => line.startsWith(`| ${group}:`) && line.includes(`| ${figure} |`))
  })
  expect(missing).toEqual([])
})
