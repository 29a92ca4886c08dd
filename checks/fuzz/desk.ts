/** Objects that a fuzz can find. */

/** Ids by the regular expression of their paths. */
export interface Target {
  readonly paths: string
  readonly methods: readonly string[]
  readonly parameters: Readonly<Record<string, string>>
}

/** Two of everything: one to be changed, and one to be deleted. */
export async function makeDesk(url: string, key: string): Promise<Target[]> {
  async function make(path: string, body: object): Promise<string> {
    const response = await fetch(`${url}/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    if (response.status !== 201) throw new Error(`POST ${path}: ${response.status} ${text}`)
    return (JSON.parse(text) as { id: string }).id
  }

  async function makeOne(): Promise<Record<string, string>> {
    const teammates = await make('teammates', { name: 'Grace' })
    const customers = await make('customers', { name: 'Ada' })
    const of = { customerId: customers }
    const conversations = await make('conversations', { ...of, channel: 'chat', handledBy: 'ai' })
    const within = { conversationId: conversations }
    const author = { type: 'customer' }
    const times = { startAt: '2026-01-01T09:00:00Z', endAt: '2026-01-01T10:00:00Z', timezone: 'UTC' }
    return {
      teammates,
      customers,
      conversations,
      messages: await make('messages', { ...within, direction: 'inbound', author, body: 'Hello' }),
      notes: await make('notes', { ...within, author: { type: 'ai' }, body: 'Careful' }),
      tickets: await make('tickets', { ...of, ...within, subject: 'Help' }),
      bookings: await make('bookings', { ...of, ...within, ...times, title: 'Fitting' }),
      'api-keys': await make('api-keys', { name: 'Fuzz', scopes: ['customers:read'] }),
    }
  }

  const [kept, lost] = [await makeOne(), await makeOne()]
  return Object.keys(kept).flatMap((plural) => {
    const paths = `^/v1/${plural}/\\{id\\}`
    return [
      { paths, methods: ['GET', 'PATCH', 'POST'], parameters: { id: kept[plural] as string } },
      { paths, methods: ['DELETE'], parameters: { id: lost[plural] as string } },
    ]
  })
}
