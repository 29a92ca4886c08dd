/** What is removed or rewritten goes in steps, so that no statement holds locks for long. */

/** Rows a statement touches at most. */
export const step = 500

/** Takes steps until one finds less than it could take. `take` answers how many rows it found. */
export async function stepByStep(take: () => Promise<number>): Promise<void> {
  while ((await take()) === step);
}
