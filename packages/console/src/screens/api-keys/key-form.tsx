/** Creates or changes a key. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { changedFields } from '../../api/change.ts'
import { type ApiKey, answerOf, api } from '../../api/client.ts'
import { useIntent } from '../../api/intent.ts'
import { showAtOnce } from '../../api/list.ts'
import { Button } from '../../design/button.tsx'
import { Dialog, DialogActions } from '../../design/dialog.tsx'
import { Field, Form, FormError, fieldErrors, TextInput } from '../../design/field.tsx'
import { fromLocal, toLocal } from '../../design/local-time.ts'
import { TimeInput } from '../../design/time-input.tsx'
import { say } from '../../design/toasts.tsx'
import { useDraftForm } from '../../session/draft-form.ts'
import { keepDraft } from '../../session/drafts.ts'
import { useUntaggedChange } from '../desk/use-untagged-change.tsx'
import css from './scope-picker.module.css'
import { ScopePicker } from './scope-picker.tsx'
import type { Scope } from './scopes.ts'

interface Values {
  name: string
  /** Empty for never. */
  expiresAt: string
  scopes: readonly Scope[]
}

const expiries = [
  ['30 days', 30],
  ['90 days', 90],
  ['1 year', 365],
  ['Never', null],
] as const

/** To the minute, as a field shows it. */
function inDays(days: number): string {
  return new Date(Math.ceil(Date.now() / 60_000) * 60_000 + days * 86_400_000).toISOString()
}

interface KeyFormProps {
  readonly isOpen: boolean
  readonly close: () => void
  /** Null: creates one. */
  readonly apiKey: ApiKey | null
  /** Gets the token of a new key, which is shown once. */
  readonly onCreated?: (token: string) => void
}

export function KeyForm({ isOpen, close, apiKey, onCreated }: KeyFormProps) {
  function leave(): void {
    keepDraft(draftNameOf(apiKey), null)
    close()
  }
  return (
    <Dialog
      isOpen={isOpen}
      close={leave}
      title={apiKey === null ? 'Create API key' : 'Edit API key'}
      about="Create a separate key for each program, with only the scopes that it needs. You can then revoke one without the others."
    >
      {isOpen && <Fields close={leave} apiKey={apiKey} onCreated={onCreated} />}
    </Dialog>
  )
}

function draftNameOf(apiKey: ApiKey | null): string {
  return `API key ${apiKey?.id ?? 'new'}`
}

function Fields({ close, apiKey, onCreated }: Omit<KeyFormProps, 'isOpen'>) {
  const client = useQueryClient()
  const {
    form,
    base,
    before: given,
    isRestored,
  } = useDraftForm<Values, ApiKey | null>(draftNameOf(apiKey), apiKey, (from) => ({
    name: from?.name ?? '',
    expiresAt: from?.expiresAt ? toLocal(from.expiresAt) : '',
    scopes: (from?.scopes ?? []) as readonly Scope[],
  }))
  const { errors, isSubmitting } = form.formState
  const intent = useIntent()
  const expiresAt = form.watch('expiresAt')
  const [chosen, setChosen] = useState({ title: '', at: '' })

  async function finish(done: string): Promise<void> {
    await Promise.all([
      client.invalidateQueries({ queryKey: ['api-keys'] }),
      client.invalidateQueries({ queryKey: ['caller'] }),
    ])
    say(done)
    close()
  }

  const changing = useUntaggedChange<ApiKey>({
    read: (id) => answerOf(api().apiKeys.get(id)),
    write: (id, patch) => answerOf(api().apiKeys.update(id, patch)),
    done: () => finish('API key saved'),
    close,
  })

  async function send(values: Values): Promise<void> {
    if (values.scopes.length === 0) {
      form.setError('scopes', { message: 'Choose at least one scope.' })
      return
    }
    const body = bodyOf(values, base)
    try {
      if (apiKey === null) {
        const made = await answerOf(api().apiKeys.create(body, { idempotencyKey: intent.keyFor(body) }))
        showAtOnce(made.id)
        onCreated?.(made.token)
      } else {
        return await changing.save(base ?? apiKey, changedFields(bodyOf(given, base), body))
      }
      await finish('API key created')
    } catch (error) {
      fieldErrors(error, form.setError, ['name', 'scopes', 'expiresAt'])
    }
  }

  if (changing.dialog) return changing.dialog
  return (
    <Form isBusy={isSubmitting} onSubmit={(event) => void form.handleSubmit(send)(event)}>
      {isRestored && <p role="status">Draft restored.</p>}
      <Field label="Name" error={errors.name?.message}>
        <TextInput
          placeholder="Search index"
          autoComplete="off"
          {...form.register('name', { required: 'Enter a name.' })}
        />
      </Field>
      <ScopePicker
        chosen={form.watch('scopes')}
        onChange={(scopes) => {
          form.clearErrors('scopes')
          form.setValue('scopes', scopes)
        }}
        error={errors.scopes?.message}
      />
      <Field
        label="Expires"
        hint="Leave empty for a key that does not expire."
        error={errors.expiresAt?.message}
      >
        <TimeInput {...form.register('expiresAt')} />
      </Field>
      <fieldset className={css.presets}>
        <legend className="unseen">Expires after</legend>
        {expiries.map(([title, days]) => (
          <Button
            key={title}
            size="s"
            aria-pressed={
              expiresAt === '' ? days === null : expiresAt === chosen.at && title === chosen.title
            }
            onClick={() => {
              const at = days === null ? '' : toLocal(inDays(days))
              setChosen({ title, at })
              form.clearErrors('expiresAt')
              form.setValue('expiresAt', at, { shouldDirty: true })
            }}
          >
            {title}
          </Button>
        ))}
      </fieldset>
      <FormError message={errors.root?.message} />
      <DialogActions>
        <Button onClick={close}>Cancel</Button>
        <Button kind="primary" type="submit" isBusy={isSubmitting}>
          {apiKey === null ? 'Create' : 'Save'}
        </Button>
      </DialogActions>
    </Form>
  )
}

function bodyOf({ name, expiresAt, scopes }: Values, apiKey: ApiKey | null) {
  // The service refuses an invalid time.
  const until = fromLocal(expiresAt, apiKey?.expiresAt) ?? (expiresAt.trim() || null)
  return { name: name.trim(), scopes: [...scopes], expiresAt: until }
}
