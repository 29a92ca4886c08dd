/**
 * All that commands say to a person, and to programs that read it. Promise: no control character of a server, a file
 * or an argument reaches a terminal; it is shown as JSON writes it (`\u001b`), so that JSON keeps its values.
 */
// Not by name: under a Node without styleText, main.ts would not get to say what it needs.
import util from 'node:util'

/**
 * Controls (C0, C1, DEL), what turns the direction of text or hides, and separators of lines; the joiners are parts
 * of words.
 */
const unsafe = /[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu

/** A text of one line, as a person may see it. */
export function plain(text: string): string {
  return text.replace(unsafe, escaped)
}

/** The same for a text of several lines. */
export function visible(text: string): string {
  return text.replace(unsafe, (character) =>
    character === '\n' || character === '\t' ? character : escaped(character),
  )
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, n) => {
    return `\\u${character.charCodeAt(n).toString(16).padStart(4, '0')}`
  }).join('')
}

/** Says what was asked for, on standard output. @returns false when its reader is slower. */
export function printOut(text: string): boolean {
  return process.stdout.write(visible(text))
}

/** The same of a table, whose heading is bold on a terminal, unless NO_COLOR is set. */
export function printTable(text: string): void {
  const end = text.indexOf('\n')
  const heading = util.styleText('bold', visible(text.slice(0, end)), { stream: process.stdout })
  process.stdout.write(`${heading}${visible(text.slice(end))}`)
}

/** Says what else there is to know, on standard error. */
export function printError(text: string): void {
  process.stderr.write(visible(text))
}

/** Where progress is shown. */
export interface Screen {
  readonly isTTY: boolean
  write(text: string): void
  /** Replaces the line that was shown last, where it is a terminal. */
  line(text: string): void
}

export const screen: Screen = {
  get isTTY() {
    return process.stderr.isTTY === true
  },
  write: printError,
  line(text) {
    if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${plain(text)}`)
  },
}
