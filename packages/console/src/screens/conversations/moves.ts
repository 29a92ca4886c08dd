/** What can become of a conversation as it stands (specification 4.4). A test holds this against the service's own rules. */

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
