// The launcher of a program that is not Deskwire.
import { createLauncher } from '../src/index.ts'

export const launcher = createLauncher({
  name: 'example',
  words: { program: 'Example', dataDir: 'EXAMPLE_DATA', ownServer: 'set EXAMPLE_URL' },
})
