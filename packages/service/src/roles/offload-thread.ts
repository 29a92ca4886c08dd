import { constants, setPriority } from 'node:os'

// Linux has priorities per thread: the main thread goes first, also while this one loads its modules for a few hundred milliseconds.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
await import('./offload-service.ts')
