/** Checks a text with textlint: its own rule for the length of sentences, and the rules of this project. */
import { createRequire } from 'node:module'
import { TextlintKernel, type TextlintKernelOptions, type TextlintKernelRule } from '@textlint/kernel'
import { StringSource } from 'textlint-util-to-string'
import { rules } from './rules.ts'

// Vitest and Node disagree about the default export of a CommonJS module.
const require = createRequire(import.meta.url)
const { default: markdown } = require('@textlint/textlint-plugin-markdown')
const { default: sentenceLength } = require('textlint-rule-sentence-length')

/** A text that a person reads. */
export interface Text {
  /** A file, a command's help, or a file and line. */
  readonly where: string
  readonly markdown: string
}

export interface Finding {
  readonly where: string
  readonly line: number
  readonly rule: string
  readonly found: string
  readonly instead: string
}

/** Characters, about 35 words; a list of names in code does not count. */
const longest = 240
const lists = ['/(?:[\\w./:*-]+[,;] (?:then |and )?){4,}/']

type RuleModule = Extract<TextlintKernelRule['rule'], (...args: never[]) => unknown>

/** Code says nothing, and a line break in a paragraph is a space. */
const projectRule: RuleModule = (context) => {
  const { Syntax, RuleError, locator, report } = context
  const check = (node: ConstructorParameters<typeof StringSource>[0]) => {
    const source = new StringSource(node, {
      replacer: ({ node: { type }, maskValue }) => (type === 'Code' ? maskValue('_') : undefined),
    })
    const text = source.toString().replaceAll('\n', ' ')
    for (const { id, found, instead } of rules) {
      for (const match of text.matchAll(found)) {
        const start = source.originalIndexFromIndex(match.index) ?? 0
        report(node as never, new RuleError(`${id}\n${match[0]}\n${instead}`, { padding: locator.at(start) }))
      }
    }
  }
  return {
    [Syntax.Paragraph]: check as never,
    [Syntax.Header]: check as never,
    TableCell: check as never,
  }
}

const options: TextlintKernelOptions = {
  ext: '.md',
  plugins: [{ pluginId: 'markdown', plugin: markdown }],
  rules: [
    { ruleId: 'project', rule: projectRule },
    {
      ruleId: 'sentence-length',
      rule: sentenceLength,
      options: { max: longest, skipPatterns: lists },
    },
  ],
}

const kernel = new TextlintKernel()

export async function lint({ where, markdown: text }: Text): Promise<Finding[]> {
  const { messages } = await kernel.lintText(text, options)
  return messages.map(({ ruleId, message, loc }) => {
    const { line } = loc.start
    if (ruleId === 'project') {
      const [rule = '', found = '', instead = ''] = message.split('\n')
      return { where, line, rule, found, instead }
    }
    const found = (text.split('\n')[line - 1] ?? '').slice(0, 80)
    return { where, line, rule: ruleId, found, instead: `at most ${longest} characters a sentence` }
  })
}
