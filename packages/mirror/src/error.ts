/** What a mirror cannot go on with; the message says what to do. Failures of the service are thrown as DeskwireError. */
export class MirrorError extends Error {
  override readonly name = 'MirrorError'
}
