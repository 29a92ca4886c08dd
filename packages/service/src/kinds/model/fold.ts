/**
 * Folding: texts that people take for the same have one folded form. Case is folded in full, compatibility forms and
 * marks that readers leave out are removed, digits of all scripts are ASCII, and letters that Unicode does not
 * decompose are mapped. Stored texts and queries are folded by this one function, so a change needs a new
 * `documentVersion`. Pure.
 */

/**
 * Joins two words into one: `O'Brien`, `col·lecció`, a Persian word with a non-joiner. The folded form of all of these.
 */
export const joiner = "'"

/** Further marks on a character are dropped, as normalizing takes time quadratic in them: 64,000 took some seconds. */
const tooManyMarks = /(\p{M}{30})\p{M}+/gu

/** Written for an apostrophe; normalizing makes a space of it. */
const acuteAccents = /[\u00b4\u1ffd]/g

/** Joiners after a vowel sign or a virama, where they only choose a form of the letter. */
const formChoosers = /(?<=[\p{M}--[\u0590-\u06ff\u0890-\u08ff]])[\u200c\u200d]/gv

/**
 * Characters that do not distinguish words: marks on Latin, Greek and Cyrillic letters, points of Hebrew and Arabic and
 * the Arabic tatweel, variation selectors, keycaps and soft hyphens. Vowel signs of South and South-East Asia, and the
 * marks of kana, remain.
 */
const unwritten =
  /[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u2de0-\u2dff\ua66f\ua674-\ua67d\ufe20-\ufe2f\u00ad\u0640[\p{M}&&[\u0590-\u06ff\u0890-\u08ff\p{Me}\p{DI}]]]/gv

/** What is left of these after normalizing, in lower case, is written in another way as well. */
const substitutes: Readonly<Record<string, string>> = {
  // Apostrophes and the letters that serve as such, Hebrew geresh and gershayim, middle dots, joiners.
  ...letters('`·‘’ʹʺʻʼʽʾʿˈ‧׳״՚・\u200c\u200d', joiner),
  // Full case folding: letters with two small forms, or with a capital of two letters.
  ...letters('ς', 'σ'),
  ...letters('ı', 'i'),
  ...letters('\u0345', 'ι'),
  ß: 'ss',
  ᲀ: 'в',
  ᲁ: 'д',
  ᲂ: 'о',
  ᲃ: 'с',
  ...letters('ᲄᲅ', 'т'),
  ᲆ: 'ъ',
  ᲇ: 'ѣ',
  ᲈ: 'ꙋ',
  // Letters without a decomposition, by what people write who lack the key.
  ...letters('łƚɫⱡ', 'l'),
  ...letters('øɵɔ', 'o'),
  ...letters('đðɖɗ', 'd'),
  ...letters('ħ', 'h'),
  ...letters('ŧƭʈⱦ', 't'),
  ...letters('ƀɓ', 'b'),
  ...letters('ɨɩ', 'i'),
  ...letters('ʉʊ', 'u'),
  ...letters('ɉ', 'j'),
  ...letters('ɇɛəǝ', 'e'),
  ...letters('ɍɽ', 'r'),
  ...letters('ɏƴ', 'y'),
  ...letters('ⱥ', 'a'),
  ...letters('ƶȥ', 'z'),
  ...letters('ǥɠɣ', 'g'),
  ...letters('ƈȼ', 'c'),
  ...letters('ƙĸ', 'k'),
  ...letters('ƥ', 'p'),
  ...letters('ƒ', 'f'),
  ...letters('ʋ', 'v'),
  ...letters('ŋɲƞ', 'n'),
  ...letters('ȿ', 's'),
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  // Arabic: forms of alef, ya, kaf and ha, which keyboards of Arabic, Persian and Urdu differ in.
  ...letters('ٱ', 'ا'),
  ...letters('ىیے', 'ي'),
  ...letters('ک', 'ك'),
  ...letters('ةہھەۀۂۃ', 'ه'),
}

function letters(from: string, to: string): Record<string, string> {
  return Object.fromEntries([...from].map((letter) => [letter, to]))
}

const substituted = new RegExp(`[${Object.keys(substitutes).join('')}]`, 'gu')

const foreignDigits = /[\p{Nd}--[0-9]]/gv

/** Idempotent. Spaces and punctuation remain. */
export function fold(text: string): string {
  if (isAscii(text)) return text.toLowerCase().replaceAll('`', joiner)
  return text
    .replace(tooManyMarks, '$1')
    .replace(acuteAccents, joiner)
    .normalize('NFKD')
    .toLowerCase()
    .replace(formChoosers, '')
    .replace(substituted, (letter) => substitutes[letter] ?? letter)
    .replace(unwritten, '')
    .replace(foreignDigits, asciiDigit)
    .normalize('NFC')
}

export function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text)
}

/** Digits of a script follow each other from 0 to 9, and those of two scripts may be neighbours. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0
  let zero = code
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--
  return String((code - zero) % 10)
}
