/**
 * The reply, or an internal note. Drafts survive navigation; a reply is sent once, however often sending is tried.
 * What is typed while it is sent stays.
 */
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, type RefObject, useId, useRef, useState } from 'react'
import { answerOf, api } from '../../api/client.ts'
import { useIntent } from '../../api/intent.ts'
import { ApiProblem } from '../../api/problem.ts'
import { Button } from '../../design/button.tsx'
import { FormError } from '../../design/field.tsx'
import { FilterSelect } from '../../design/select.tsx'
import { Switch } from '../../design/switch.tsx'
import { useCaller } from '../../session/caller.tsx'
import { draftOf, keepDraft } from '../../session/drafts.ts'
import { beTeammate, useSession } from '../../session/store.ts'
import { type Conversation, everyTeammate, teammateOptions, useTeammates } from '../desk/objects.ts'
import css from './reply.module.css'

interface ReplyProps {
  readonly conversation: Conversation
  /** Resolves when the message is shown. */
  readonly onSent: () => Promise<void>
  /** Called when resolving is asked for, and what it returns once the reply is sent. Null where it is impossible. */
  readonly beginResolving: (() => () => Promise<unknown>) | null
  readonly form: RefObject<HTMLFormElement | null>
  /** A sign of messages that were not seen. */
  readonly unseen: ReactNode
}

type Kind = 'reply' | 'note'

export function Reply({ conversation: { id }, onSent, beginResolving, form, unseen }: ReplyProps) {
  const { may } = useCaller()
  const mayReply = may('messages:write')
  const [kind, setKind] = useState<Kind>(mayReply ? 'reply' : 'note')
  const isNote = kind === 'note'
  const intent = useIntent()
  const fieldId = useId()
  const client = useQueryClient()
  const area = useRef<HTMLTextAreaElement>(null)
  const { all } = useTeammates()
  const teammates = all.filter(({ active }) => active)
  const [texts, setTexts] = useState<Readonly<Record<Kind, string>>>(() => ({
    reply: draftOf(draftName(id, 'reply')) ?? '',
    note: draftOf(draftName(id, 'note')) ?? '',
  }))
  const text = texts[kind]
  const [busy, setBusy] = useState<'send' | 'resolve' | null>(null)
  const [error, setError] = useState<string>()
  const { teammateId, unsigned } = useSession()
  const as = unsigned === null ? teammates.find((one) => one.id === teammateId)?.id : 'nobody'
  /** What was to be done when it turned out that nobody had said who they are. */
  const [asking, setAsking] = useState<'send' | 'resolve' | null>(null)

  function write(next: string): void {
    setTexts({ ...texts, [kind]: next })
    setError(undefined)
    keepDraft(draftName(id, kind), next || null)
  }

  /** The user may have typed meanwhile, into the other kind too, or have left. */
  function remove(sent: string): void {
    const left = (now: string) => (now.startsWith(sent) ? now.slice(sent.length).trimStart() : now)
    setTexts((held) => ({ ...held, [kind]: left(held[kind]) }))
    keepDraft(draftName(id, kind), left(draftOf(draftName(id, kind)) ?? '') || null)
  }

  /** The author's id; undefined for nobody, null while the user has not said. */
  async function authorOf(who: string | null): Promise<string | null | undefined> {
    if (who === 'nobody' || !may('teammates:read')) return undefined
    const known = await client.ensureQueryData(everyTeammate).catch(() => [])
    const active = known.filter((one) => one.active)
    return active.length === 0 ? undefined : (active.find((one) => one.id === who)?.id ?? null)
  }

  async function send(
    isLast: boolean,
    who: string | null = unsigned === null ? teammateId : 'nobody',
  ): Promise<void> {
    if (busy !== null) return
    if (text.trim() === '') {
      setError('Enter a message.')
      return
    }
    const resolve = isLast ? beginResolving?.() : undefined
    setBusy(isLast ? 'resolve' : 'send')
    setError(undefined)
    setAsking(null)
    const authorId = await authorOf(who)
    if (authorId === null) {
      setBusy(null)
      setAsking(isLast ? 'resolve' : 'send')
      return
    }
    const written = {
      conversationId: id,
      author: { type: 'teammate' as const, ...(authorId === undefined ? {} : { id: authorId }) },
      body: text,
    }
    const body = { ...written, direction: 'outbound' as const }
    try {
      await (isNote
        ? answerOf(api().notes.create(written, { idempotencyKey: intent.keyFor(written) }))
        : answerOf(api().messages.create(body, { idempotencyKey: intent.keyFor(body) })))
      intent.done()
      remove(text)
      await onSent()
      await resolve?.()
    } catch (thrown) {
      const details = thrown instanceof ApiProblem ? thrown.errors.map(({ detail }) => detail).join(' ') : ''
      const what = thrown instanceof Error ? thrown.message : String(thrown)
      setError(`Not sent: ${details === '' ? what : details}`)
    } finally {
      setBusy(null)
    }
  }

  return (
    <form
      ref={form}
      className={css.reply}
      data-kind={kind}
      aria-label={isNote ? 'Note' : 'Reply'}
      onSubmit={(event) => {
        event.preventDefault()
        void send(false)
      }}
    >
      <div className={css.news} role="status">
        {unseen}
      </div>
      <label className="unseen" htmlFor={fieldId}>
        {isNote ? 'Your note' : 'Your reply'}
      </label>
      <textarea
        ref={area}
        id={fieldId}
        className={css.text}
        dir="auto"
        aria-keyshortcuts={mayReply && may('notes:write') ? undefined : isNote ? 'n' : 'r'}
        rows={3}
        placeholder={isNote ? 'Write an internal note' : 'Write a reply'}
        value={text}
        aria-describedby={`${fieldId}-keys`}
        onChange={(event) => write(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
          event.preventDefault()
          void send(!isNote && event.shiftKey && beginResolving !== null)
        }}
      />
      <FormError message={error} />
      {asking !== null && (
        <fieldset
          className={css.who}
          onKeyDown={({ key }) => {
            if (key !== 'Escape') return
            setAsking(null)
            area.current?.focus()
          }}
        >
          <legend>Who are you?</legend>
          {[...teammateOptions(teammates), ['nobody', 'Nobody'] as const].map(([who, name], n) => (
            <Button
              key={who}
              size="s"
              ref={n === 0 ? focus : undefined}
              onClick={() => {
                beTeammate(who)
                area.current?.focus()
                void send(asking === 'resolve', who)
              }}
            >
              {name}
            </Button>
          ))}
        </fieldset>
      )}
      <div className={css.actions}>
        {mayReply && may('notes:write') && (
          <Switch
            label="Message type"
            shortcuts={{ reply: 'r', note: 'n' }}
            value={kind}
            options={[
              ['reply', 'Reply'],
              ['note', 'Note'],
            ]}
            onChange={(next) => {
              setKind(next)
              area.current?.focus()
              setAsking(null)
              setError(undefined)
            }}
          />
        )}
        {may('teammates:read') && teammates.length > 0 && (
          <FilterSelect
            label="I am"
            every="Choose…"
            value={as}
            options={[...teammateOptions(teammates), ['nobody', 'Nobody']]}
            onChange={(value) => beTeammate(value ?? null)}
          />
        )}
        <span className={css.keys} id={`${fieldId}-keys`}>
          Ctrl Enter {isNote ? 'adds the note' : 'sends'}
          {isNote || beginResolving === null ? '' : ', Ctrl Shift Enter sends and resolves'}
        </span>
        <span className={css.send}>
          {!isNote && beginResolving !== null && (
            <Button isBusy={busy === 'resolve'} onClick={() => void send(true)}>
              Send and resolve
            </Button>
          )}
          <Button kind="primary" type="submit" isBusy={busy === 'send'}>
            {isNote ? 'Add note' : 'Send'}
          </Button>
        </span>
      </div>
    </form>
  )
}

function focus(button: HTMLButtonElement | null): void {
  button?.focus()
}

/** A note that was not added is never offered as a reply. */
function draftName(id: string, kind: Kind): string {
  return kind === 'note' ? `${id} note` : id
}
