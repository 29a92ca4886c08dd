/** Followers that wait for something to happen. The time that they would wait is moved, not waited for. */
import { expect, vi } from 'vitest'
import { eventually } from '../../../testbed/eventually.ts'
import { type Command, named, type Real } from './command.ts'
import { expectPage, followerOf, pageOf, read } from './reads.ts'
import { highest, type ModelFollower, type StreamModel, timeText } from './stream-model.ts'

/** Where a follower that has caught up waits from: its cursor, the time of its place, or a time that is yet to come. */
type WaitFrom = 'cursor' | 'watermark' | 'ahead'

/**
 * A follower waits while another command is run. It is given what that does, if that is of its kinds; otherwise it is
 * left alone until its time is up, and then given nothing. What is there already it is given at once.
 */
export function waitWhile(n: number, from: WaitFrom, other: Command): Command {
  return named(`follower ${n} waits from ${from} while: ${other}`, {
    check: (model) => other.check(model),
    async run(model, real) {
      const one = followerOf(model, n)
      do await read(n, 'next').run(model, real)
      while (!one.caughtUp)
      const query = begin(model, real, n, from)
      let answered = false
      const answer = real.api.get(pageOf(one, `${query}&wait=50`)).finally(() => {
        answered = true
      })
      if (model.ahead(one).length === 0) {
        await asleep(real)
        await other.run(model, real)
        if (model.ahead(one).length === 0) {
          await asleep(real)
          vi.advanceTimersByTime(45_000)
          await asleep(real)
          expect(answered).toBe(false)
          vi.advanceTimersByTime(15_000)
        }
      }
      const expected = model.read(one, 'next')
      real.cursors.set(n, { cursor: expectPage(model, one, expected, await answer), last: query })
      // Asked for again, a time that is yet to come is another place.
      if (from === 'ahead') one.before = null
    },
  })
}

/** Puts the model's follower where it waits from; the query that says so. */
function begin(model: StreamModel, { cursors }: Real, n: number, from: WaitFrom): string {
  const one = followerOf(model, n)
  const at = from === 'ahead' ? model.clock : (one.place as NonNullable<ModelFollower['place']>).at
  // Of a stream that is empty there is no time to keep.
  if (from === 'cursor' || at === 0) return `cursor=${cursors.get(n)?.cursor}`
  one.place = { at, id: highest }
  one.began = null
  return `updatedAfter=${from === 'ahead' ? '2999-01-01T00:00:00Z' : timeText(at)}`
}

const asleep = (real: Real) => eventually('a follower waits', () => real.waiting() === 1)
