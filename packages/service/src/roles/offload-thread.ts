import { constants, getPriority, setPriority } from 'node:os'

const { PRIORITY_BELOW_NORMAL } = constants.priority
// Linux has priorities per thread: the main thread goes first, also while this one loads its modules for a few hundred
// milliseconds. A service that runs with a lower one already may not raise it.
if (process.platform === 'linux' && getPriority() < PRIORITY_BELOW_NORMAL) setPriority(PRIORITY_BELOW_NORMAL)
await import('./offload-service.ts')
