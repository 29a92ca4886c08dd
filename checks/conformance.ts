/** The conformance suite of the Model Context Protocol against `/mcp`: a part of `npm run check -- agents`. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

const suite = '@modelcontextprotocol/conformance@0.2.0-alpha.12'

/** Scenarios, or single checks of one, that cannot pass here. One that passes anyway fails the run. */
const notApplicable = {
  'call tools, resources and prompts of the test server': [
    ...['simple-text', 'image', 'audio', 'embedded-resource', 'mixed-content', 'error', 'with-progress'].map(
      (name) => `tools-call-${name}`,
    ),
    ...['tools-call-with-logging', 'tools-call-sampling', 'tools-call-elicitation'],
    ...['resources-read-text', 'resources-read-binary', 'resources-templates-read'],
    'server-stateless:sep-2575-server-rejects-undeclared-capability',
    'server-stateless:sep-2575-missing-capability-http-400',
    'server-stateless:sep-2575-http-server-no-independent-requests-on-stream',
    'server-stateless:sep-2575-server-no-log-without-loglevel',
  ],
  'optional features that the service does not declare': [
    ...['completion-complete', 'logging-set-level', 'resources-subscribe', 'resources-unsubscribe'],
    ...['list', 'get-simple', 'get-with-args', 'get-embedded-resource', 'get-with-image'].map(
      (name) => `prompts-${name}`,
    ),
    'caching:sep-2549-prompts-list-caching-hints',
  ],
  'no tool asks its client for input': [
    ...['elicitation-sep1034-defaults', 'elicitation-sep1330-enums'],
    ...[
      ...['basic-elicitation', 'basic-sampling', 'basic-list-roots', 'request-state', 'multi-round'],
      ...['multiple-input-requests', 'missing-input-response', 'non-tool-request', 'result-type'],
      ...['tampered-state', 'capability-check', 'ignore-extra-params'],
    ].map((name) => `input-required-result-${name}`),
  ],
}

/** Before 2026-07-28 streams belonged to sessions, which the service does not have. */
const ofSessions = ['server-sse-multiple-streams']

/** Runs what two revisions of the protocol require of a server. */
export async function conformsToMcp(url: string, token: string, scratch: string): Promise<void> {
  const install = ['install', '--silent', '--no-audit', '--no-fund', '--no-save', '--ignore-scripts']
  execFileSync('npm', [...install, '--prefix', scratch, suite], { cwd: scratch, stdio: 'inherit' })
  const program = join(scratch, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
  await using proxy = await startProxy(url, token)
  for (const [revision, others] of [
    ['2026-07-28', []],
    ['2025-11-25', ofSessions],
  ] as const) {
    const expected = join(scratch, `${revision}.yaml`)
    const listed = [...Object.values(notApplicable).flat(), ...others]
    await writeFile(expected, JSON.stringify({ server: listed }))
    const args = ['--url', proxy.url, '--requirements', revision, '--expected-failures', expected]
    const child = spawn(process.execPath, [program, 'server', ...args], { cwd: scratch })
    let text = ''
    for (const output of [child.stdout, child.stderr]) output.on('data', (chunk) => (text += chunk))
    const [code] = await once(child, 'close')
    assert.equal(code, 0, text)
    console.log(
      `conforms to revision ${revision}, apart from what ${listed.length} entries say does not apply`,
    )
  }
}

/** Adds the key, which the suite cannot send. */
async function startProxy(url: string, token: string) {
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming
    const onward = request(new URL(path ?? '/', url), {
      method,
      headers: { ...headers, authorization: `Bearer ${token}` },
    })
    onward.on('response', (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    outgoing.on('close', () => onward.destroy())
    incoming.pipe(onward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
