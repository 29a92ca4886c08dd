/** Bodies become text, texts become a transcript that is bounded, and a transcript a choice of its sentences. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Message } from '../../src/desk/message/fields.ts'
import { extractSummary } from '../../src/summarizer/extractive.ts'
import { cutText } from '../../src/summarizer/text.ts'
import {
  plainText,
  type Transcript,
  type TranscriptMessage,
  transcriptOf,
} from '../../src/summarizer/transcript.ts'

describe('plain text', () => {
  test.each([
    [
      'html',
      '<p>Dear&nbsp;Ada &amp; co,<br>it <b>works</b>.</p><p>Bye</p>',
      'Dear\u00a0Ada & co,\nit works.\n\nBye',
    ],
    ['html', '<style>p{}</style><script>alert(1)</script><title>T</title><!-- c -->Hello', 'Hello'],
    ['html', '<table><tr><td>One</td><td>Two</td></tr></table>', 'One\nTwo'],
    ['html', 'Mine <a href="https://a.example/x">here</a> <img src="x" alt="pixel">', 'Mine here'],
    ['html', '<p>Mine</p><blockquote>Yours</blockquote>', 'Mine'],
    ['html', '<blockquote>Yours</blockquote>', 'Yours'],
    ['markdown', '# Hi\n\n**It** [works](https://a.example) `now`', 'Hi\n\nIt works now'],
    ['markdown', 'Mine <b>here</b><script>alert(1)</script>\n\n> Yours', 'Mine here'],
    ['text', 'Mine <b>\r\n> Yours\r\n>> Theirs\r\nand mine', 'Mine <b>\n\nand mine'],
    ['text', '> Yours', '> Yours'],
    [
      'text',
      `${'It was sent on Monday, and it was said that it would come on\nTuesday.'}\nBye`,
      'It was sent on Monday, and it was said that it would come on\nTuesday.\nBye',
    ],
    [
      'text',
      `${'It was sent on Monday, and somebody said that it would come on'}\nTuesday.\nBye`,
      `${'It was sent on Monday, and somebody said that it would come on'} Tuesday.\nBye`,
    ],
    ['text', 'a\u0000b\u001b[31m\n\n\n\n\tc  \n', 'a b [31m\n\n\tc'],
  ] as const)('of %s: %j', (contentType, body, text) => {
    expect(plainText(body, contentType)).toBe(text)
  })

  test.each([
    '<div>',
    '<b>',
    '<blockquote>',
    '<ol><li>',
    '<table><tr><td>',
    '<',
    '&',
    '<!--',
    '<a a=1 ',
    '>',
    '> ',
    '- ',
    '*',
    '*a ',
    '_a_',
    '[',
    '[a](',
    '![',
    '`a',
    '*a**',
    '|-',
    '[a]: ',
    '\n',
    ' ',
    '\\',
  ])('of as much of %j as a message may hold, whatever it means', (piece) => {
    const body = piece.repeat(16_000 / piece.length)
    for (const contentType of ['text', 'html', 'markdown'] as const)
      expect(plainText(body, contentType).length).toBeLessThanOrEqual(3 * body.length)
  })
})

function message(body: string, more: Partial<Message> = {}): Message {
  return {
    conversationId: 'c',
    direction: 'inbound',
    author: { type: 'customer' },
    body,
    contentType: 'text',
    attachments: [],
    externalId: null,
    sentAt: '2026-01-01T00:00:00.000Z',
    channel: 'chat',
    customerId: null,
    ...more,
  }
}

const attachment = (fileName: string) => ({
  fileName,
  contentType: 'image/png',
  sizeBytes: 1,
  url: 'https://a.example/x',
})

describe('a transcript', () => {
  const textOf = ({ messages }: Transcript) => messages.map(({ text }) => text)

  test('is in the order of sending, without what says nothing', () => {
    const made = transcriptOf(
      'S',
      [
        message('second', { sentAt: '2026-01-02T00:00:00.000Z', author: { type: 'ai' } }),
        message('first'),
        message(' \n', { sentAt: '2026-01-03T00:00:00.000Z' }),
        message('', {
          sentAt: '2026-01-04T00:00:00.000Z',
          attachments: [attachment('a.png'), attachment('b.pdf')],
        }),
      ],
      false,
    )
    expect(made).toEqual({
      subject: 'S',
      abridged: false,
      messages: [
        { by: 'customer', text: 'first' },
        { by: 'ai', text: 'second' },
        { by: 'customer', text: 'Attached: a.png, b.pdf.' },
      ],
    })
  })

  test('keeps beginning and end, and says that the middle is missing', () => {
    const made = transcriptOf(
      null,
      Array.from({ length: 60 }, (_, n) => message(`${n} ${'x'.repeat(1_000)}`)),
      false,
    )
    const kept = textOf(made).map((text) => Number.parseInt(text, 10))
    expect(kept).toEqual([0, 1, 2, 3, 4, ...Array.from({ length: 17 }, (_, n) => n + 43)])
    expect(made.abridged).toBe(true)
    expect(transcriptOf(null, [message('all')], true).abridged).toBe(true)
  })

  test('holds at most 24,000 characters of any messages, and never half a character', () => {
    const body = fc.oneof(
      fc.string({ maxLength: 300 }),
      fc
        .tuple(fc.constantFrom('a b. ', '😀', 'x', '<p>y</p>', '> '), fc.nat(20_000))
        .map(([text, times]) => text.repeat(times).slice(0, 64_000)),
    )
    const contentType = fc.constantFrom('text' as const, 'html' as const, 'markdown' as const)
    const some = fc.array(fc.tuple(body, contentType), { maxLength: 12 })
    fc.assert(
      fc.property(some, (bodies) => {
        const made = transcriptOf(
          null,
          bodies.map(([text, type]) => message(text, { contentType: type })),
          false,
        )
        const all = textOf(made).join('')
        expect(all.length).toBeLessThanOrEqual(24_000)
        expect(all.isWellFormed()).toBe(true)
        expect(textOf(made)).not.toContain('')
      }),
      { numRuns: 30 },
    )
  })
})

test('a cut text is a beginning that fits, at a sentence or a word where there is one', () => {
  expect(cutText('One two. Three four.', 14)).toBe('One two.')
  expect(cutText('One two three', 9)).toBe('One two')
  expect(cutText('One two', 7)).toBe('One two')
  expect(cutText('x'.repeat(20), 5)).toBe('xxxxx')
  expect(cutText('😀😀', 3)).toBe('😀')
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 60 }),
      fc.integer({ min: 1, max: 60 }),
      (text, limit) => {
        const cut = cutText(text, limit)
        expect(text.startsWith(cut) && cut.length <= limit && cut.isWellFormed()).toBe(true)
      },
    ),
  )
})

describe('an extractive summary', () => {
  const talk = (...messages: readonly (readonly [TranscriptMessage['by'], string])[]): Transcript => ({
    subject: null,
    messages: messages.map(([by, text]) => ({ by, text })),
    abridged: false,
  })
  const parcel = talk(
    [
      'customer',
      'Hi there,\n\nI ordered a coffee grinder in May (order 4711) and it still has not arrived. Can you tell me where my parcel is?\n\nThanks, Ada',
    ],
    [
      'ai',
      'Hello Ada! I am sorry that your parcel is late. I have looked at order 4711: it was handed to the carrier on the 4th of May.',
    ],
    ['customer', 'If the parcel is lost I would rather have a refund than a new grinder.'],
    [
      'teammate',
      'The carrier has confirmed that the parcel is lost. I have refunded the full amount to your card.',
    ],
    ['customer', 'Great, thank you!'],
  )

  test('is the sentences that say most of the others, in order, with who said them', () => {
    expect(extractSummary(parcel)).toMatchInlineSnapshot(`
      "AI: I am sorry that your parcel is late. I have looked at order 4711: it was handed to the carrier on the 4th of May.
      Customer: If the parcel is lost I would rather have a refund than a new grinder.
      Teammate: The carrier has confirmed that the parcel is lost."
    `)
    expect(extractSummary(structuredClone(parcel))).toBe(extractSummary(parcel))
  })

  test('writes nothing new: every line is a speaker and sentences of theirs', () => {
    const sentence = fc.array(fc.constantFrom('parcel', 'order', 'refund', 'late', 'card', 'I', 'the'), {
      minLength: 1,
      maxLength: 9,
    })
    const speaker = fc.constantFrom<TranscriptMessage['by']>('customer', 'teammate', 'ai', 'system')
    const spoken = fc.tuple(speaker, fc.array(sentence, { minLength: 1, maxLength: 5 }))
    fc.assert(
      fc.property(fc.array(spoken, { minLength: 1, maxLength: 12 }), (messages) => {
        const said = messages.map(
          ([by, sentences]) => [by, sentences.map((words) => `${words.join(' ')}.`).join(' ')] as const,
        )
        const lines = extractSummary(talk(...said)).split('\n')
        for (const line of lines) {
          const [, label = '', text = ''] = /^(\w+): (.*)$/.exec(line) ?? []
          const theirs = said
            .filter(([by]) => by === label.toLowerCase())
            .map(([, words]) => words)
            .join(' ')
          for (const one of text.match(/[^.]+\./g) ?? ['nothing']) expect(theirs).toContain(one.trim())
        }
      }),
    )
  })

  test('does without spaces, takes a long sentence in part, and one sentence where there is but one', () => {
    expect(extractSummary(talk(['customer', '荷物はどこですか。注文番号は4711です。']))).toBe(
      'Customer: 荷物はどこですか。 注文番号は4711です。',
    )
    expect(extractSummary(talk(['ai', `${'word '.repeat(200)}end.`]))).toMatch(/^AI: (word ){50,60}…$/)
    expect(extractSummary(talk(['system', 'ok']))).toBe('System: ok')
    expect(extractSummary(talk(['customer', '👍 ?!']))).toBe('')
    expect(extractSummary(talk())).toBe('')
  })

  test('repeats nothing', () => {
    const quoted = talk(
      ['customer', 'My kettle leaks onto the table.'],
      ['teammate', 'My kettle leaks onto the table. We send you a new kettle today.'],
    )
    expect(extractSummary(quoted)).toBe(
      'Customer: My kettle leaks onto the table.\nTeammate: We send you a new kettle today.',
    )
  })
})
