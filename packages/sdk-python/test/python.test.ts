/** The parts of the Python SDK that need nothing but Python; `npm run check -- python` runs the others. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { docstring } from '../../../tools/generate/python-models.ts'

const python = process.platform === 'win32' ? 'python' : 'python3'
const installed = spawnSync(python, ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))']).status === 0

test('signature, proof, copies, retries and receiver pass their tests in Python', () => {
  if (!installed) return expect(process.env.CI, 'install Python 3.10 or later').toBeFalsy()
  const { status, stderr } = spawnSync(python, ['-B', 'test_pure.py'], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    encoding: 'utf8',
  })
  expect(stderr).toMatch(/^Ran \d\d tests[\s\S]*^OK$/m)
  expect(status).toBe(0)
})

test('each generated file is Python', () => {
  if (!installed) return expect(process.env.CI, 'install Python 3.10 or later').toBeFalsy()
  const parse =
    'import ast, pathlib; print(len([ast.parse(p.read_text()) for p in pathlib.Path("../src").rglob("*.py")]))'
  const cwd = fileURLToPath(new URL('.', import.meta.url))
  const { stdout, stderr } = spawnSync(python, ['-B', '-c', parse], { cwd, encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(Number(stdout)).toBeGreaterThan(15)
})

test('a generated docstring is read back by Python as it was', () => {
  if (!installed) return expect(process.env.CI, 'install Python 3.10 or later').toBeFalsy()
  const texts = ['`n:"3"`', '"', '"""""', 'a\\', 'a\\"', '\\"""', 'two\nlines "quoted"', "'''"]
  const read = 'import ast, json, sys; print(json.dumps([ast.literal_eval(t) for t in json.load(sys.stdin)]))'
  const { stdout } = spawnSync(python, ['-c', read], { input: JSON.stringify(texts.map(docstring)) })
  expect(JSON.parse(String(stdout))).toEqual(texts)
})
