/** The tasks by which the documentation is ordered. */
export const tasks = {
  start: { title: 'Start', about: 'A key, a first call, and which way to take the data out.' },
  copy: {
    title: 'Keep a copy',
    about:
      'One ordered stream of what was created, changed and removed, with a cursor that never expires and a proof at its end.',
  },
  webhooks: {
    title: 'Receive webhooks',
    about:
      'Signed events, retried until they arrive, with a log of every attempt and a way back for what was missed.',
  },
  desk: {
    title: 'Work the desk',
    about: 'Create, read and change what the organization holds, object by object.',
  },
  keys: { title: 'Manage keys', about: 'Scopes, rotation with an overlap, revocation.' },
  operate: {
    title: 'Operate',
    about: 'Run an installation: settings, deployment, metrics, the command line.',
  },
} as const

export type Task = keyof typeof tasks
