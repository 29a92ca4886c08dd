/**
 * Tiers: lanes wait among their like, so that those of an endpoint that hangs, or has a backlog, stand in nobody
 * else's way. Each tier has a share of the attempts that a worker makes at once (`slots.ts`).
 */

/** In the order of `lanes.tier`: little is waiting; a backlog; nobody answers; nothing is known
 * of it yet, or it answers late. */
export const tiers = ['light', 'heavy', 'slow', 'fresh'] as const
export type Tier = (typeof tiers)[number]

/**
 * Deliveries taken at once. A light lane mostly has one; a slow one comes seldom, and one that refuses gets through
 * them at once; 64 are worth their statement, and are sent before their payload is old.
 */
export const takeSizes: Readonly<Record<Tier, number>> = { light: 16, heavy: 64, slow: 16, fresh: 4 }

/**
 * Lanes that one search finds at most. A commit makes many lanes due at once; those that hardly anybody answers come a few
 * at a time, so that the attempts at the others are not made between theirs.
 */
export const foundAtOnce: Readonly<Record<Tier, number>> = { light: 256, heavy: 64, slow: 4, fresh: 32 }

/** After so many takes that were full a turn ends when others wait, so that all get theirs. */
export const fullTakesATurn: Readonly<Record<Tier, number>> = { light: 1, heavy: 4, slow: 1, fresh: 1 }
