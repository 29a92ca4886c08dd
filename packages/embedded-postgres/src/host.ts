/** The program that embeds the server. */
export interface Host {
  /** The name of the database and of the role that owns it: lower-case letters, digits and underscores. */
  readonly name: string
  /** Names in the data directory that the program itself makes, perhaps before the first start. */
  readonly ownNames?: readonly string[]
  /** Default: general words. */
  readonly words?: Partial<Words>
}

/** Parts of messages, so that they name the settings of this program. */
export interface Words {
  /** The program, as in "start … as an ordinary user". */
  readonly program: string
  /** The setting that names the data directory, as in "give … a directory of its own". */
  readonly dataDir: string
  /** How to do without the embedded server, as in "…, or add a user". */
  readonly ownServer: string
  /** How to bring a cluster of another major version of PostgreSQL to this one. */
  readonly otherMajor: string
  /** The option that allows a replacement of a database, as in "give … to move that aside". */
  readonly replace: string
  readonly replaceAgain: string
}

export type NamedHost = Required<Host> & { readonly words: Words }

const generalWords: Words = {
  program: 'this program',
  dataDir: 'dataDir',
  ownServer: 'use a PostgreSQL server of your own',
  otherMajor: 'dump it with the release that made it, and restore it into a new data directory',
  replace: 'replace',
  replaceAgain: 'start the restore again',
}

/** @throws RangeError for a name that would have to be quoted in SQL. */
export function nameHost({ name, ownNames = [], words }: Host): NamedHost {
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(name))
    throw new RangeError(`${JSON.stringify(name)} cannot name a database here: use a-z, 0-9 and _`)
  return { name, ownNames, words: { ...generalWords, ...words } }
}
