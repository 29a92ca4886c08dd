/** Texts that people take for the same are folded to one text. */
import { expect, test } from 'vitest'
import { fold } from '../../src/kinds/model/fold.ts'

/** Those of Unicode, without the many of Chinese and Korean. */
const characters = Array.from({ length: 0x20000 }, (_, code) => String.fromCodePoint(code)).filter(
  (one) => !/[\p{Cn}\p{Co}\p{Cs}\p{scx=Han}\p{scx=Hang}]/u.test(one),
)

test.each([
  ['Müller', 'muller'],
  ['José', 'jose'],
  ['Łukasz', 'lukasz'],
  ['Øystein', 'oystein'],
  ['Nguyễn', 'nguyen'],
  ['Đặng', 'dang'],
  ['Kovač', 'kovac'],
  ['Æther Œuvre Þór', 'aether oeuvre thor'],
  ['ΟΔΥΣΣΕΥΣ Οδυσσεύς', 'οδυσσευσ οδυσσευσ'],
  ['Straße STRASSE STRAẞE', 'strasse strasse strasse'],
  ['ışık IŞIK İstanbul', 'isik isik istanbul'],
  ['Андрій Ёлкин', 'андріи елкин'],
  ['أحمد آدم إيمان ٱلله', 'احمد ادم ايمان الله'],
  ['علی کاظمی على كاظمي', 'علي كاظمي علي كاظمي'],
  ['فاطمة محـــمد', 'فاطمه محمد'],
  ['שָׁלוֹם', 'שלום'],
  ['हिमानी क्\u200dषितिज', 'हिमानी क्षितिज'],
  ['がギ ｶﾞ', 'がギ ガ'],
  ['각'.normalize('NFD'), '각'],
  ['٠٣٠ ०१२ １２ 𝟗', '030 012 12 9'],
  ['O’Brien Hawaiʻi col·lecció D`Angelo l´été', "o'brien hawai'i col'leccio d'angelo l'ete"],
  ['علی\u200cرضا', "علي'رضا"],
  ['7️⃣ Fuß\u00adball', '7 fussball'],
])('%s is folded as %s', (text, other) => {
  expect(fold(text)).toBe(other)
})

test('case does not distinguish any character, whichever case comes first', () => {
  const cased = characters.filter((one) => one.toLowerCase() !== one || one.toUpperCase() !== one)
  expect(cased.length).toBeGreaterThan(2_500)
  const differing = cased.filter(
    (one) => fold(one.toUpperCase()) !== fold(one) || fold(one.toLowerCase()) !== fold(one),
  )
  expect(differing).toEqual([])
})

test('what is folded stays as it is', () => {
  expect(characters.filter((one) => fold(fold(one)) !== fold(one))).toEqual([])
})

test('digits of all scripts are those of ASCII', () => {
  const digits = characters.filter((one) => /\p{Nd}/u.test(one))
  expect(digits.length).toBeGreaterThan(600)
  expect(digits.map(fold)).toEqual(digits.map((_, n) => String(n % 10)))
})

test('marks that make another letter remain', () => {
  for (const [one, other] of [
    ['が', 'か'],
    ['ぱ', 'は'],
    ['हिमानी', 'हमन'],
    ['กี', 'ก'],
    ['நி', 'ந'],
  ] as const)
    expect(fold(one)).not.toBe(fold(other))
})
