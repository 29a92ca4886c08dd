/** The API's thread for large bodies and answers. */
import { constants, setPriority } from 'node:os'

// Where a thread has a priority of its own, which is on Linux alone, the one that serves everybody goes first: also
// while this one loads what it runs, which takes a few hundred milliseconds.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
await import('./offload-service.ts')
