/**
 * Frees the memory of bytes that are no longer used: V8 would count it until the next full collection, and collect
 * earlier (decision 78). The array has no length afterwards. Bytes that share their memory, as small buffers do, are
 * not freed.
 */
export function freeBytes({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength && !buffer.detached)
    buffer.transfer(0)
}
