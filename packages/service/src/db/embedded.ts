/** The embedded database: a PostgreSQL that the service starts without DESKWIRE_DATABASE_URL (decision 2). */
import { createLauncher } from '@deskwire/embedded-postgres'

export const embedded = createLauncher({
  name: 'deskwire',
  // Of `deskwire listen`, and of `serve --dev` before it opens the database.
  ownNames: ['listen'],
  words: {
    program: 'Deskwire',
    dataDir: 'DESKWIRE_DATA_DIR',
    ownServer: 'set DESKWIRE_DATABASE_URL to the address of a PostgreSQL server',
    otherMajor:
      'with the release that made it run deskwire backup create FILE, then with this one deskwire backup restore FILE --replace, which leaves the old database beside the new one',
    replace: '--replace',
    replaceAgain: 'run deskwire backup restore again',
  },
})
