/** The text of a response, of a service that may never end it. */

/** Bytes of an answer that is not a stream. The largest page of the service has some 20 MiB. */
const longestAnswer = 64 * 2 ** 20

/** What `response.text()` returns; undefined for more than `longestAnswer`, of which the rest is not read. */
export const textOf = async (response: Response): Promise<string | undefined> => {
  // Some runtimes have no streams.
  if (!response.body) return response.text()
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  const pieces: string[] = []
  for (let left = longestAnswer; ; ) {
    const { done, value } = await reader.read()
    if (done) return pieces.join('') + decoder.decode()
    left -= value.byteLength
    if (left < 0) {
      void reader.cancel().catch(() => {})
      return undefined
    }
    pieces.push(decoder.decode(value, { stream: true }))
  }
}

export const overlong = (address: string): string =>
  `${address} answered with more than ${longestAnswer / 2 ** 20} MiB. Check the base address and proxies.`
