/**
 * Frees the memory of bytes that are no longer used. Left to V8, it would count until the next full
 * collection, and bring that on (decision 78).
 *
 * Afterwards the array has no length. Bytes that share their memory with others, as small buffers do, are not
 * freed.
 */
export function freeBytes({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength && !buffer.detached)
    buffer.transfer(0)
}
