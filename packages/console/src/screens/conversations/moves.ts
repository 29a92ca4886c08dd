/** The moves that a conversation allows (specification 4.4). A test compares them with the service's rules. */

export type Move = 'escalate' | 'resolve' | 'reopen'

export function movesOf({
  status,
  handledBy,
}: {
  readonly status: string
  readonly handledBy: string
}): readonly Move[] {
  const moves: readonly Move[] = status === 'open' ? ['escalate', 'resolve'] : ['escalate', 'reopen']
  return moves.filter((move) => move !== 'escalate' || handledBy === 'ai')
}
