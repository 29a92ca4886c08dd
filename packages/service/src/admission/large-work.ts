/** Work that blocks others for over 10 ms (decision 25): for the offload thread, a commit of its own, or workers after the commit. */
export const largeBeyond = {
  /** Bytes of a body with one object: the worst that 32 KiB can hold takes 12 ms to read. Most objects are smaller. */
  bodyBytes: 32 * 1024,
  /** Bytes of a response, or of a chunk of a longer one, that are read from the database and sent. */
  responseBytes: 1024 * 1024,
  changes: 32,
  /** Deliveries that a commit creates: meanwhile the organization cannot commit anything else. */
  deliveries: 1_000,
} as const
