/** A fault to plant in the SQL of a commit. */
export interface Fault {
  /** What would be wrong. */
  readonly name: string
  /** In `packages/service/src`. */
  readonly file: string
  /** Each text, which is in the file once, becomes the other. */
  readonly change: Readonly<Record<string, string>>
  /** The files in `packages/service/test` of which a test fails with it. */
  readonly killers: readonly string[]
  /** A part of the title of that test, where its file has many: a regular expression. */
  readonly titled?: string
}
