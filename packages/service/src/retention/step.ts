/** Rows per statement, so that none holds locks for long. */
export const step = 500

/** Repeats `take` until it returns less than a full step. `take` returns the number of rows. */
export async function stepByStep(take: () => Promise<number>): Promise<void> {
  while ((await take()) === step);
}
