/** Removes or rewrites rows in steps, so that no statement holds locks for long. */

/** Maximum rows per statement. */
export const step = 500

/** Repeats `take` until it returns less than a full step. `take` returns the number of rows. */
export async function stepByStep(take: () => Promise<number>): Promise<void> {
  while ((await take()) === step);
}
