/** The targets of the cases. */
import type { Result } from './report.ts'

interface Reach {
  readonly of: RegExp
  readonly text: string
  readonly met: (result: Result) => boolean
}

const reaches: readonly Reach[] = [
  {
    of: /^write: PATCH, one organization, 64 clients/,
    text: '≥ 5,000/s, ≥ 60 % of bare, p99 ≤ 60 ms',
    met: ({ value, ratio = 0, p99 = 0 }) => value >= 5000 && ratio >= 0.6 && p99 <= 60,
  },
  {
    of: /^write: PATCH, one organization, 16 clients/,
    text: '≥ 45 % of bare',
    met: ({ ratio = 0 }) => ratio >= 0.45,
  },
  {
    of: /^write: PATCH, 64 organizations/,
    text: '≥ 3,500/s without endpoints',
    met: ({ value }) => value >= 3500,
  },
  { of: /^sync: pages/, text: '≥ 70 % of bare', met: ({ ratio = 0 }) => ratio >= 0.7 },
  { of: /^sync: from epoch, one client/, text: '≤ 5 s', met: ({ value }) => value <= 5 },
  {
    of: /^sync: from epoch among/,
    text: 'as without (≤ 1.5×)',
    met: ({ ratio = 9 }) => ratio <= 1.5,
  },
  { of: /^pages: p99/, text: 'flat (≤ 1.5× the smallest)', met: ({ ratio = 9 }) => ratio <= 1.5 },
  { of: /^list: with total, no filter/, text: '≤ 5 ms', met: ({ value }) => value <= 5 },
  { of: /^log:/, text: '≤ 10 ms', met: ({ value }) => value <= 10 },
  {
    of: /^deliver: drain/,
    text: '≥ 8,000/s, ≥ 70 % of bare',
    met: ({ value, ratio = 0 }) => value >= 8000 && ratio >= 0.7,
  },
  {
    of: /^latency:/,
    text: 'p50 ≤ 4 ms, p99 ≤ 20 ms',
    met: ({ p50 = 99, p99 = 99 }) => p50 <= 4 && p99 <= 20,
  },
  {
    of: /^(isolate|newcomers):/,
    text: '≤ 2× of without the sick',
    met: ({ ratio = 9 }) => ratio <= 2,
  },
  { of: /^memory: a worker/, text: '≤ 512 MB', met: ({ value }) => value <= 512 },
  {
    of: /^neighbours: all together: a request of another's$/,
    text: 'p99 ≤ 250 ms, nothing refused',
    met: ({ value, conditions }) => value <= 250 && isZero(conditions['refused of the neighbours']),
  },
  {
    of: /^neighbours: (?!a foreign load).*a request of another's$/,
    text: 'p99 ≤ 100 ms, nothing refused',
    met: ({ value, conditions }) => value <= 100 && isZero(conditions['refused of the neighbours']),
  },
  { of: /^neighbours: .*: done$/, text: '≥ 80 % of alone', met: ({ ratio = 0 }) => ratio >= 0.8 },
  { of: /^neighbours: .*memory/, text: '≤ 400 MB', met: ({ value }) => value <= 400 },
  {
    of: /^recover: latency of another organization/,
    text: 'p50 ≤ 2× of before',
    met: ({ ratio = 9 }) => ratio <= 2,
  },
  { of: /^cascade: .* detached, \d+ endpoints$/, text: '≤ 2 s', met: ({ value }) => value <= 2000 },
  { of: /^waiters: idle/, text: '≤ 2 % of a core', met: ({ value }) => value <= 2 },
  {
    of: /^waiters: 2xx of a commit to /,
    text: 'p50 ≤ 50 ms',
    met: ({ p50 = 99 }) => p50 <= 50,
  },
  { of: /^agents: a tool call/, text: '≤ 1.3× of the API call', met: ({ ratio = 9 }) => ratio <= 1.3 },
  { of: /^stall: (?!peak)/, text: '≤ 50 ms', met: ({ value }) => value <= 50 },
  { of: /^stall: peak/, text: '≤ 400 MB', met: ({ value }) => value <= 400 },
  {
    of: /^mirror: .* rows first/,
    text: '≥ 50 % of the slower bare limit',
    met: ({ ratio = 0 }) => ratio >= 0.5,
  },
  { of: /^grown:/, text: 'p50 ≤ 30 ms', met: ({ p50 = 99 }) => p50 <= 30 },
  { of: /^import: customers/, text: '≥ 12,000/s', met: ({ value }) => value >= 12_000 },
  { of: /^import: peak memory of the service/, text: '≤ 250 MB', met: ({ value }) => value <= 250 },
  { of: /^import: peak memory of the importer/, text: '≤ 300 MB', met: ({ value }) => value <= 300 },
  { of: /^start: first/, text: '≤ 2.0 s', met: ({ value }) => value <= 2 },
  { of: /^start: warm/, text: '≤ 0.4 s', met: ({ value }) => value <= 0.4 },
  { of: /^start: memory at rest/, text: '≤ 120 MB', met: ({ value }) => value <= 120 },
  { of: /^console: script of a first load/, text: '≤ 200 KB', met: ({ value }) => value <= 200 },
  { of: /^console: from the address/, text: '≤ 1 s', met: ({ value }) => value <= 1000 },
  {
    of: /^console: frames/,
    text: '60 a second (≥ 98 % of an empty page)',
    met: ({ value, ratio = 0 }) => value >= 59 || ratio >= 0.98,
  },
  { of: /^console: heap/, text: '≤ 100 MB', met: ({ value }) => value <= 100 },
  {
    of: /^databases: (PATCH|deliveries), .* on two databases instead of one$/,
    text: '≥ 1.8× of one',
    met: ({ ratio = 0 }) => ratio >= 1.8,
  },
  {
    of: /^databases: one killed: .*, while the other is away$/,
    text: '≤ 1.5× of before, nothing refused',
    met: ({ ratio = 9, conditions }) => ratio <= 1.5 && isZero(conditions['refused of the others']),
  },
  { of: /^move: an organization of \w+ customers$/, text: '≥ 10,000/s', met: ({ value }) => value >= 10_000 },
  { of: /^drift: verify, 0 /, text: '≤ 8 s', met: ({ value }) => value <= 8 },
  { of: /^drift: verify, 10000 /, text: '≤ 20 s', met: ({ value }) => value <= 20 },
  { of: /^move: .*longest wait of its writer$/, text: '≤ 1 s', met: ({ value }) => value <= 1000 },
  {
    of: /^move: .*p99 of organizations of both databases$/,
    text: '≤ 1.5× of before',
    met: ({ ratio = 9 }) => ratio <= 1.5,
  },
  { of: /^start: resident/, text: '≤ 250 MB', met: ({ value }) => value <= 250 },
]

/** Of each run. */
function isZero(counts: string | number | undefined): boolean {
  return !/[1-9]/.test(String(counts))
}

export function reachOf({ case: name }: Result): Reach | undefined {
  return reaches.find(({ of }) => of.test(name))
}
