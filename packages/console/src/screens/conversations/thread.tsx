/**
 * Messages and internal notes, oldest first. All are shown as text, in which links and code are marked: nothing in
 * them is run or loaded.
 */
import { clipped } from '@deskwire/sdk/clipped'
import { Fragment, type RefObject, useEffect, useRef } from 'react'
import type { List } from '../../api/list.ts'
import { Button } from '../../design/button.tsx'
import { Empty, ErrorState, Loading } from '../../design/states.tsx'
import { Tag } from '../../design/status.tsx'
import { Clock, locale } from '../../design/time.tsx'
import { type Message, type Note, nameOf, useCustomers, useTeammates } from '../desk/objects.ts'
import { RichText } from '../desk/rich-text.tsx'
import css from './thread.module.css'

export function Thread({
  messages,
  notes,
  end,
  sought,
  removal,
}: {
  readonly messages: List<Message>
  readonly notes: List<Note>
  readonly end: RefObject<HTMLDivElement | null>
  /** The id of a message to show. */
  readonly sought?: string | undefined
  /** Deletes a message that has a button for it, or null. */
  readonly removal?: (message: Said) => (() => void) | null
}) {
  const customers = useCustomers(messages.rows.map(({ customerId }) => customerId))
  const { nameOf: nameOfTeammate } = useTeammates()
  const mark = useRef<HTMLLIElement>(null)
  const isFound = messages.rows.some(({ id }) => id === sought)
  const mayLook = sought !== undefined && !isFound && messages.hasMore && !messages.isLoadingMore
  const { loadMore } = messages
  // biome-ignore lint/correctness/useExhaustiveDependencies: another function each time
  useEffect(() => {
    if (mayLook) loadMore()
  }, [mayLook])
  useEffect(() => {
    if (!isFound) return
    mark.current?.scrollIntoView({ block: 'center' })
    mark.current?.focus({ preventScroll: true })
  }, [isFound])

  // Notes of times whose messages are not shown yet wait for them.
  const earliest = messages.hasMore ? (messages.rows.at(-1)?.createdAt ?? '') : ''
  const lacksNotes = notes.hasMore && !notes.isLoadingMore && (notes.rows.at(-1)?.createdAt ?? '') > earliest
  const { loadMore: loadMoreNotes } = notes
  // biome-ignore lint/correctness/useExhaustiveDependencies: another function each time
  useEffect(() => {
    if (lacksNotes) loadMoreNotes()
  }, [lacksNotes])

  if (messages.isLoading) return <Loading />
  if (messages.error !== null && messages.rows.length === 0) {
    return <ErrorState error={messages.error} retry={messages.retry} />
  }
  if (messages.rows.length === 0 && notes.rows.length === 0) {
    return (
      <Empty title="No messages yet">
        <p>Write the first message below.</p>
      </Empty>
    )
  }
  const inOrder = [
    ...messages.rows,
    ...notes.rows.filter(({ createdAt }) => createdAt >= earliest).map(asMessage),
  ].sort((a, b) => a.sentAt.localeCompare(b.sentAt) || a.id.localeCompare(b.id))

  function authorOf({ author, customerId }: Pick<Said, 'author' | 'customerId'>): string {
    if (author.name) return author.name
    if (author.type === 'customer') {
      const customer = customers.get(customerId ?? '')
      return customer === undefined ? 'Customer' : nameOf(customer)
    }
    if (author.id !== undefined) return nameOfTeammate(author.id)
    const names: Record<string, string> = { teammate: 'Teammate', ai: 'AI', system: 'System' }
    return names[author.type] ?? author.type
  }

  return (
    <div className={css.thread}>
      {messages.hasMore && (
        <Button className={css.earlier} isBusy={messages.isLoadingMore} onClick={messages.loadMore}>
          Show earlier messages
        </Button>
      )}
      <ol className={css.messages} aria-label="Messages">
        {inOrder.map((message, n) => {
          const day = dayOf(message.sentAt)
          const remove = removal?.(message) ?? null
          const isNewDay = n === 0 || dayOf(inOrder[n - 1]?.sentAt ?? '') !== day
          return (
            <Fragment key={message.id}>
              {isNewDay && (
                <li className={css.day}>
                  <span>{day}</span>
                </li>
              )}
              <li
                className={css.message}
                data-direction={message.direction}
                {...(message.id === sought ? { ref: mark, tabIndex: -1, 'data-sought': true } : {})}
              >
                <p className={css.who}>
                  <strong dir="auto">{authorOf(message)}</strong>
                  {message.author.type === 'ai' && message.author.name !== undefined && <Tag>AI</Tag>}
                  {message.direction === 'note' && <Tag>Internal note</Tag>}
                  {message.contentType !== 'text' && <Tag>{message.contentType}</Tag>}
                  <Clock at={message.sentAt} />
                  {remove !== null && (
                    <Button
                      size="s"
                      aria-label={`Delete what ${authorOf(message)} wrote: ${clipped(message.body ?? '', 60)}`}
                      onClick={remove}
                    >
                      Delete
                    </Button>
                  )}
                </p>
                {message.body !== null && message.body !== '' && (
                  <div className={css.body}>
                    <RichText text={message.body} />
                  </div>
                )}
                {message.attachments.length > 0 && (
                  <ul className={css.attachments}>
                    {message.attachments.map(({ fileName, url, sizeBytes }) => (
                      <li key={`${fileName} ${url}`}>
                        {isWeb(url) ? (
                          <a href={url} target="_blank" rel="noreferrer noopener">
                            {visibleName(fileName)}
                          </a>
                        ) : (
                          <>
                            <bdi>{visibleName(fileName)}</bdi> <bdi>({url})</bdi>
                          </>
                        )}{' '}
                        <span>{saySize(sizeBytes)}</span>
                      </li>
                    ))}
                  </ul>
                )}
              </li>
            </Fragment>
          )
        })}
      </ol>
      <div ref={end} />
    </div>
  )
}

/** With overrides of the direction as JSON writes them: they would show another ending. */
function visibleName(fileName: string): string {
  return fileName.replace(
    /[\u202a-\u202e\u2066-\u2069]/g,
    (override) => `\\u${override.charCodeAt(0).toString(16)}`,
  )
}

export type Said = Pick<Message, 'id' | 'author' | 'body' | 'customerId' | 'updatedAt'> & {
  readonly direction: Message['direction'] | 'note'
}

function asMessage(note: Note) {
  const { id, author, body, customerId, createdAt, updatedAt } = note
  return {
    id,
    author,
    body,
    customerId,
    updatedAt,
    sentAt: createdAt,
    direction: 'note' as const,
    contentType: 'text' as const,
    attachments: [],
  }
}

const day = new Intl.DateTimeFormat(locale, { dateStyle: 'full' })

function dayOf(at: string): string {
  return at === '' ? '' : day.format(Date.parse(at))
}

/** Whether an address leads to a page, and runs nothing here. */
function isWeb(url: string): boolean {
  return /^https?:\/\//i.test(url)
}

function saySize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}
