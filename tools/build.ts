/** `npm run build`: builds each package as it is published, in its own `dist/`. */
import { version } from '../packages/service/src/kernel/version.ts'
import { buildPackages } from './packages/build.ts'

buildPackages({ version, repository: null })
