/** The configuration of schemathesis. */
import type { Target } from './desk.ts'

/**
 * Checks that do not apply: that everything that follows the schemas is accepted, as schemas cannot say that an id
 * exists or a time is in the future; and calls that build on each other, as each is tried by itself.
 */
const notChecked = [
  'positive_data_acceptance',
  'use_after_free',
  'ensure_resource_availability',
  'object_level_authorization',
]

/** Refusals of invalid requests. If-Match is checked before the body. */
const refusals = ['400', '401', '403', '404', '405', '409', '410', '412', '413', '415', '422']

/** As TOML; JSON's strings and arrays are TOML. */
export function fuzzConfig(key: string, targets: readonly Target[]): string {
  const header = (name: string, entries: readonly string[]) => [`[${name}]`, ...entries, ''].join('\n')
  return [
    header('headers', [`Authorization = ${JSON.stringify(`Bearer ${key}`)}`]),
    header(
      'checks',
      notChecked.map((name) => `${name}.enabled = false`),
    ),
    header('checks.negative_data_rejection', [`expected-statuses = ${JSON.stringify(refusals)}`]),
    // Each item of a batch is accepted or refused by itself: the response is 200.
    '[[operations]]\ninclude-path-regex = "/batch$"\nchecks.negative_data_rejection.enabled = false\n',
    ...targets.map(({ paths, methods, parameters }) =>
      [
        '[[operations]]',
        `include-path-regex = ${JSON.stringify(paths)}`,
        `include-method = ${JSON.stringify(methods)}`,
        ...Object.entries(parameters).map(
          ([name, value]) => `parameters.${JSON.stringify(`path.${name}`)} = ${JSON.stringify(value)}`,
        ),
        '',
      ].join('\n'),
    ),
  ].join('\n')
}

/** Further arguments. */
export const fuzzArguments = [
  '--phases',
  'examples,coverage,fuzzing',
  '--continue-on-failure',
  // Longer than the longest `wait`.
  '--request-timeout',
  '90',
  '--warnings',
  'off',
]
