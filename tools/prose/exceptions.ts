/** Sentences that the prose check lets pass, each with its reason. One that no text needs any more fails the check. */
export const exceptions: readonly {
  readonly where: string
  readonly found: string
  readonly because: string
}[] = []
