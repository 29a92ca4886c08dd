/** The text of a response, of a service that may never end it. */

/** Characters of an answer that is not a stream. The largest page of the service has some 20 MiB. */
export const longestAnswer = 64 * 2 ** 20

/** Characters of a document that has no largest size: a text of JavaScript holds little more. */
export const longestDocument = 500 * 2 ** 20

/** The text of a body as it arrives. Whoever stops early cancels what is left. */
export async function* textsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      yield decoder.decode(value, { stream: !done })
      if (done) return
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** What `response.text()` returns; undefined for more than `longest` characters, of which the rest is not read. */
export const textOf = async (response: Response, longest = longestAnswer): Promise<string | undefined> => {
  // Some runtimes have no streams.
  if (!response.body) return response.text()
  let text = ''
  for await (const piece of textsOf(response.body)) {
    text += piece
    if (text.length > longest) return undefined
  }
  return text
}

export const overlong = (what: string, longest = longestAnswer): string =>
  `${what} has more than ${longest / 2 ** 20} MiB. Check the base address and proxies.`
