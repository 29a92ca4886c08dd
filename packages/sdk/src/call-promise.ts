/** What a call returns. */

/** The result of a call: the parsed body, undefined where there is none (204), `not_modified` for 304. */
export interface CallPromise<T> extends Promise<T> {
  /** The result together with status, headers and request id of its response. It sends nothing more. */
  withResponse(): Promise<CallResponse<T>>
}

export interface CallResponse<T> {
  data: T
  status: number
  headers: Headers
  /** Quote it when asking for help. */
  requestId: string | undefined
}

/** The promise of the result, with the response at hand. */
export const dataOf = <T>(responded: Promise<CallResponse<T>>): CallPromise<T> => {
  const data = responded.then(({ data }) => data)
  return Object.assign(data, {
    withResponse() {
      // A failure is the caller's by the other promise: Node ends a process for one that nobody handles.
      data.catch(() => {})
      return responded
    },
  })
}

export const requestIdOf = (headers: Headers): string | undefined => headers.get('x-request-id') ?? undefined
