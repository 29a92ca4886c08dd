/** A mirror cannot go on; the message says what to do. Failures of the service are thrown as DeskwireError. */
export class MirrorError extends Error {
  override readonly name: string = 'MirrorError'
}
