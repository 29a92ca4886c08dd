/** The reply, or an internal note. Drafts survive navigation; a reply is sent once, however often sending is tried. */
import { useId, useState } from 'react'
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
import { type Conversation, teammateOptions, useTeammates } from '../desk/objects.ts'
import css from './reply.module.css'

interface ReplyProps {
  readonly conversation: Conversation
  /** Resolves when the message is shown. */
  readonly onSent: () => Promise<void>
  /** Null where the conversation cannot be resolved. */
  readonly resolve: (() => Promise<unknown>) | null
}

export function Reply({ conversation: { id }, onSent, resolve }: ReplyProps) {
  const { may } = useCaller()
  const mayReply = may('messages:write')
  const [kind, setKind] = useState<'reply' | 'note'>(mayReply ? 'reply' : 'note')
  const isNote = kind === 'note'
  const intent = useIntent()
  const fieldId = useId()
  const { all } = useTeammates()
  const teammates = all.filter(({ active }) => active)
  const [text, setText] = useState(draftOf(draftName(id, isNote)) ?? '')
  const [busy, setBusy] = useState<'send' | 'resolve' | null>(null)
  const [error, setError] = useState<string>()
  const { teammateId } = useSession()
  const as = teammates.find((one) => one.id === teammateId)?.id

  function write(next: string): void {
    setText(next)
    setError(undefined)
    keepDraft(draftName(id, isNote), next || null)
  }

  async function send(isLast: boolean): Promise<void> {
    if (busy !== null) return
    if (text.trim() === '') {
      setError('Enter a message.')
      return
    }
    setBusy(isLast ? 'resolve' : 'send')
    setError(undefined)
    const written = {
      conversationId: id,
      author: { type: 'teammate' as const, ...(as === undefined ? {} : { id: as }) },
      body: text,
    }
    const body = { ...written, direction: 'outbound' as const }
    try {
      await (isNote
        ? answerOf(api().notes.create(written, { idempotencyKey: intent.keyFor(written) }))
        : answerOf(api().messages.create(body, { idempotencyKey: intent.keyFor(body) })))
      intent.done()
      write('')
      await onSent()
      // The function itself reports its outcome.
      if (isLast) await resolve?.().catch(() => undefined)
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
      className={css.reply}
      data-kind={kind}
      aria-label={isNote ? 'Note' : 'Reply'}
      onSubmit={(event) => {
        event.preventDefault()
        void send(false)
      }}
    >
      <label className="unseen" htmlFor={fieldId}>
        {isNote ? 'Your note' : 'Your reply'}
      </label>
      <textarea
        id={fieldId}
        className={css.text}
        rows={3}
        placeholder={isNote ? 'Write an internal note' : 'Write a reply'}
        value={text}
        aria-describedby={`${fieldId}-keys`}
        onChange={(event) => write(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
          event.preventDefault()
          void send(!isNote && event.shiftKey && resolve !== null)
        }}
      />
      <FormError message={error} />
      <div className={css.actions}>
        {mayReply && may('notes:write') && (
          <Switch
            label="Message type"
            value={kind}
            options={[
              ['reply', 'Reply'],
              ['note', 'Note'],
            ]}
            onChange={(next) => {
              setKind(next)
              setText(draftOf(draftName(id, next === 'note')) ?? '')
              setError(undefined)
            }}
          />
        )}
        {may('teammates:read') && teammates.length > 0 && (
          <FilterSelect
            label="I am"
            every="Choose…"
            value={as}
            options={teammateOptions(teammates)}
            onChange={(value) => beTeammate(value ?? null)}
          />
        )}
        <span className={css.keys} id={`${fieldId}-keys`}>
          Ctrl Enter {isNote ? 'adds the note' : 'sends'}
          {isNote || resolve === null ? '' : ', Ctrl Shift Enter sends and resolves'}
        </span>
        {!isNote && resolve !== null && (
          <Button isBusy={busy === 'resolve'} onClick={() => void send(true)}>
            Send and resolve
          </Button>
        )}
        <Button kind="primary" type="submit" isBusy={busy === 'send'}>
          {isNote ? 'Add note' : 'Send'}
        </Button>
      </div>
    </form>
  )
}

/** A note that was not added is never offered as a reply. */
function draftName(id: string, isNote: boolean): string {
  return isNote ? `${id} note` : id
}
