/** Whatever the environment says of proxies, a delivery goes straight to the address that was checked. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { authority, createBench } from '../../../testbed/sending.ts'

const bench = createBench()
afterAll(() => bench.close())

test('no proxy of the environment is used, though all of Node is told to use one', async () => {
  const proxy = await bench.receiver({ speaks: 'plain' })
  const receiver = await bench.receiver()
  const trap = `http://127.0.0.1:${proxy.port}`
  const variables = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY', 'https_proxy', 'http_proxy', 'all_proxy']
  const env = {
    ...process.env,
    ...Object.fromEntries(variables.map((name) => [name, trap])),
    NO_PROXY: '',
    no_proxy: '',
    NODE_USE_ENV_PROXY: '1',
  }
  const url = `https://127.0.0.1:${receiver.port}/hook`
  const running = promisify(execFile)(
    process.execPath,
    [join(import.meta.dirname, 'send-once.fixture.ts'), url],
    { env },
  )
  running.child.stdin?.end(authority.ca)
  const { stdout } = await running
  expect(JSON.parse(stdout)).toMatchObject({ kind: 'answered', status: 200 })
  expect(receiver.requests.length).toBe(1)
  // The trap works: what followed the environment, and came after, asked it for a way to the receiver.
  expect(proxy.requests.map(({ method }) => method)).toEqual(['CONNECT'])
})
