/**
 * Frees memory at once: V8 would count it until the next full collection, and collect earlier (decision 78). Leaves an
 * empty array. Bytes that share their memory, as small buffers do, are not freed.
 */
export function freeBytes({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength && !buffer.detached)
    buffer.transfer(0)
}
