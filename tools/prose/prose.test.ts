/** The prose check fails on a planted sentence for each rule, in each kind of text, and on planted commit subjects. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { lint } from './lint.ts'
import { faultOf, newCommits } from './subjects.ts'
import { allTexts, isSentence, paragraphsOfHelp, stringsOf, textsOfErrors } from './texts.ts'

const rulesFound = async (markdown: string) =>
  (await lint({ where: 'planted', markdown })).map(({ rule }) => rule)

test.each([
  ['headless-relative', 'What waits is sent first.'],
  ['headless-relative', 'It depends on whoever asks.'],
  ['headless-relative', 'The job replays a list of what it has missed.'],
  ['hidden-actor', 'The request is then waited for.'],
  ['hidden-actor', 'Every process is asked.'],
  ['double-negative', 'Nothing is sent unless a key allows it.'],
  ['word', 'A page stands beside the API.'],
  ['word', 'It lives in the place of the\nother.'],
  ['word', '| a |\n| --- |\n| told by an event |'],
  ['word', '## Send again what it has missed'],
  ['sentence-length', `The worker sends ${'a delivery to an endpoint and '.repeat(9)}ends.`],
])('%s: "%s"', async (rule, text) => {
  expect(await rulesFound(text)).toContain(rule)
})

test('plain sentences, code, questions and lists of names pass', async () => {
  const names = 'customers:read, '.repeat(30)
  for (const text of [
    'The worker sends pending deliveries first.',
    '`what waits beside it` is code.',
    'What does it do?',
    'The error says what is wrong and what to do next.',
    `A key has the scopes ${names}and others.`,
  ]) {
    expect(await rulesFound(text)).toEqual([])
  }
})

test('a finding names its line and what to write instead', async () => {
  const [finding] = await lint({ where: 'planted', markdown: 'Good.\n\nIt is stored\nbeside it.' })
  expect(finding).toMatchObject({ line: 4, found: 'beside', rule: 'word' })
  expect(finding?.instead).toContain('next to')
})

test('every kind of text is read', async () => {
  const places = (await allTexts()).map(({ where }) => where)
  for (const place of ['README.md', 'docs/style.md', 'deskwire migrate --help', 'error not_found']) {
    expect(places).toContain(place)
  }
  for (const place of [
    /^packages\/console\/src\/.*\.tsx:\d+$/,
    /^packages\/console\/src\/.*\.ts:\d+$/,
    /^packages\/service\/src\/.*\.ts:\d+$/,
  ]) {
    expect(places).toContainEqual(expect.stringMatching(place))
  }
})

test.each(['title', 'means', 'help', 'example'] as const)('the %s of an error is read', async (member) => {
  const plain = {
    title: 'Not found',
    means: 'The id names no object.',
    help: 'Check the id.',
    example: 'No such id.',
  }
  const [text] = textsOfErrors({ not_found: { ...plain, [member]: 'It stands beside the other.' } })
  expect(text?.where).toBe('error not_found')
  expect(await rulesFound(text?.markdown ?? '')).toContain('word')
})

test('sentences of the service are read, its SQL and its codes are not', () => {
  const source = `
    const refused = problem('not_found', \`The \${kind} stands beside it.\`)
    const sql = \`select a from b
      where c\`
    const commented = \`-- 3. What waits stands beside it.\`
    const code = 'not found'
    const field = { title: 'Beside it', description: 'the name is told. ' + 'it stands beside it.' }`
  expect(
    stringsOf(source, 'ts')
      .map(({ text }) => text)
      .filter(isSentence),
  ).toEqual(['The … stands beside it.', 'Beside it', 'the name is told.', 'it stands beside it.'])
})

test('a flag of a help text is a paragraph, an example is not prose', async () => {
  const help =
    'deskwire x: do it.\n\n  --a NAME   a name, and\n             what stands beside it\n\nExamples:\n  beside\n'
  expect(await rulesFound(paragraphsOfHelp(help))).toContain('word')
  expect(paragraphsOfHelp(help)).not.toContain('--a')
  expect(await rulesFound(paragraphsOfHelp('deskwire x: do it.\n\nExamples:\n  beside'))).toEqual([])
})

test('text of elements and string properties of the console are read, class names are not', () => {
  const source = `import a from 'some where'
    export const A = () => <p className="one two" title="It is told">It stands {n} beside it.</p>
    const label = { hint: \`By your \${clock} clock\` }`
  expect(stringsOf(source).map(({ text }) => text)).toEqual([
    'It stands … beside it.',
    'It is told',
    'By your … clock',
  ])
})

test.each([
  'Fixed the cursor',
  'Fixes the cursor',
  'Fixing the cursor',
  'Made it faster',
  'fix the cursor',
  'Fix the cursor.',
  `Fix ${'the cursor '.repeat(8)}`,
])('the subject "%s" fails', (subject) => {
  expect(faultOf(subject)).not.toBeNull()
})

test.each(['Fix the cursor', 'Embed the font', 'Bring it back', 'Process a batch', 'Revert "Fixed it"'])(
  'the subject "%s" passes',
  (subject) => {
    expect(faultOf(subject)).toBeNull()
  },
)

let scratch: string | null = null
afterEach(() => {
  if (scratch !== null) rmSync(scratch, { recursive: true })
  scratch = null
})

test('only commits that the default branch does not have are read, and a clone without it has none', () => {
  scratch = mkdtempSync(join(tmpdir(), 'deskwire-subjects-'))
  const repository = join(scratch, 'repository')
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...words], {
      cwd: repository,
      stdio: 'pipe',
    })
  execFileSync('git', ['init', '-q', '-b', 'main', repository])
  git('commit', '-q', '--allow-empty', '-m', 'Fixed long ago')
  expect(newCommits(repository)).toEqual([])
  git('checkout', '-q', '-b', 'topic')
  git('commit', '-q', '--allow-empty', '-m', 'Fixed now')
  expect(newCommits(repository).map(({ subject }) => subject)).toEqual(['Fixed now'])
  const clone = (name: string, ...words: string[]) => {
    const path = join(scratch ?? '', name)
    execFileSync('git', ['clone', '-q', ...words, `file://${repository}`, path])
    return newCommits(path)
  }
  expect(clone('single', '--single-branch', '--branch', 'topic')).toEqual([])
  expect(clone('shallow', '--depth', '1')).toEqual([])
  expect(newCommits(scratch)).toEqual([])
})
