/** What `unanswered.ts` says of the failures of a browser, which are a time limit and one without a cause. */

export const whyUnanswered = (cause: unknown, address: string): string => {
  const { host } = new URL(address)
  const { name, message } = cause as Error
  if (name === 'TimeoutError') return `No complete answer from ${host}: ${message}`
  return `No complete answer arrived from ${host}: ${message.replace(/\.?$/, '.')} Check the base address and that the service is running.`
}

/** A browser does not say how far a request came. */
export const wasNotSent = (_cause: unknown): boolean => false
