/** Prints a line of results. A wrong one makes the check fail. */
export function report(line: string, good: boolean): void {
  if (!good) process.exitCode = 1
  console.log(`${good ? 'ok' : 'WRONG'}  ${line}`)
}
