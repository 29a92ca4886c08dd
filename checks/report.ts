/** Prints a line of what a check has found. One that is wrong makes the check fail. */
export function report(line: string, good: boolean): void {
  if (!good) process.exitCode = 1
  console.log(`${good ? 'ok' : 'WRONG'}  ${line}`)
}
