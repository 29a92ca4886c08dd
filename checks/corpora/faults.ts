/** What the corpora found wrong of Deskwire. Each has a test in the suite that failed first. */
export const faults: readonly (readonly [fault: string, fix: string])[] = [
  [
    'bytes after a whole request that are no request were answered before it, with 400: the response of the request, such as a 201, was lost',
    'the request keeps its response, and the connection is closed after it',
  ],
  ['`Transfer-Encoding: gzip, chunked`: the body was read as if it were not compressed', 'refused in words'],
  ['the versions HTTP/0.9 and HTTP/2.0 on the first line were read as 1.1', 'refused in words'],
  ['a request without `Host`, or with an unknown `Expect`, was refused without a body', 'refused in words'],
  [
    'a CSV file with a quote within a value: the message named the line of the header',
    'names the line of the record',
  ],
  [
    'a time in a zone whose offset has seconds was shown, and saved, wrong by up to 30 s',
    'shown with the seconds',
  ],
]
