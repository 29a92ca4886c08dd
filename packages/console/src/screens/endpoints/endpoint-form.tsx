/** Creates or changes an endpoint; the service's errors about the URL are shown at the URL. */
import { useQueryClient } from '@tanstack/react-query'
import { FormProvider, type UseFormReturn } from 'react-hook-form'
import { changedFields } from '../../api/change.ts'
import { answerOf, api, type Webhook } from '../../api/client.ts'
import { useIntent } from '../../api/intent.ts'
import { Button } from '../../design/button.tsx'
import { Dialog, DialogActions } from '../../design/dialog.tsx'
import { Checkbox, Field, Form, FormError, fieldErrors, TextArea, TextInput } from '../../design/field.tsx'
import { FormSelect } from '../../design/form-select.tsx'
import { say } from '../../design/toasts.tsx'
import { useDraftForm } from '../../session/draft-form.ts'
import { keepDraft } from '../../session/drafts.ts'
import { useUntaggedChange } from '../desk/use-untagged-change.tsx'
import { ConditionEditor } from './condition-editor.tsx'
import { type ConditionRow, conditionOf, fieldsOf, rowOf } from './conditions.ts'
import css from './endpoint.module.css'
import { EventPicker } from './event-picker.tsx'
import type { EventPattern } from './event-types.ts'

const payloads = [
  ['full', 'Full object'],
  ['thin', 'ID and kind only'],
] as const

interface Values {
  url: string
  description: string
  events: EventPattern[]
  signatures: boolean
  /** Lines of `Name: value`; empty leaves them as they are. */
  headers: string
  dropsHeaders: boolean
  rateLimit: string
  maxConcurrent: string
  coalesce: string
  payload: 'full' | 'thin'
  honorRetryAfter: boolean
  disableOn410: boolean
  conditions: ConditionRow[]
  changedFields: boolean
  includeActor: boolean
  skipOwn: boolean
}

const optionNames = [
  'headers',
  'rateLimit',
  'maxConcurrent',
  'coalesce',
  'payload',
  'honorRetryAfter',
  'disableOn410',
  'conditions',
  'changedFields',
  'includeActor',
  'skipOwn',
] as const

/** Problems that are about the URL alone. */
const ofAddress = { url_not_https: 'url', url_not_public: 'url', url_not_resolvable: 'url' } as const

interface EndpointFormProps {
  readonly isOpen: boolean
  readonly close: () => void
  /** Null: creates one. */
  readonly endpoint: Webhook | null
  /** Gets a new endpoint's secret, which is shown once. */
  readonly onCreated?: (id: string, secret: string) => void
}

export function EndpointForm({ isOpen, close, endpoint, onCreated }: EndpointFormProps) {
  function leave(): void {
    keepDraft(draftNameOf(endpoint), null)
    close()
  }
  return (
    <Dialog
      isOpen={isOpen}
      close={leave}
      isWide
      title={endpoint === null ? 'Add endpoint' : 'Edit endpoint'}
      about="The service sends each event as a signed POST, and retries until the endpoint responds with 2xx."
    >
      {/* Fresh fields each time it opens. */}
      {isOpen && <Fields close={leave} endpoint={endpoint} onCreated={onCreated} />}
    </Dialog>
  )
}

function draftNameOf(endpoint: Webhook | null): string {
  return `endpoint ${endpoint?.id ?? 'new'}`
}

function valuesOf(endpoint: Webhook | null): Values {
  return {
    url: endpoint?.url ?? '',
    description: endpoint?.description ?? '',
    events: [...(endpoint?.events ?? [])] as EventPattern[],
    signatures: endpoint?.signatures.includes('standard') ?? true,
    headers: '',
    dropsHeaders: false,
    rateLimit: String(endpoint?.rateLimit ?? ''),
    maxConcurrent: String(endpoint?.maxConcurrent ?? ''),
    coalesce: String(endpoint?.coalesce ?? ''),
    payload: endpoint?.payload === 'thin' ? 'thin' : 'full',
    honorRetryAfter: endpoint?.honorRetryAfter ?? false,
    disableOn410: endpoint?.disableOn410 ?? false,
    conditions: (endpoint?.conditions ?? []).map(rowOf),
    changedFields: endpoint?.changedFields ?? false,
    includeActor: endpoint?.includeActor ?? false,
    skipOwn: endpoint?.skipOwn ?? false,
  }
}

function Fields({ close, endpoint, onCreated }: Omit<EndpointFormProps, 'isOpen'>) {
  const client = useQueryClient()
  const {
    form,
    base,
    before: given,
    isRestored,
  } = useDraftForm<Values, Webhook | null>(draftNameOf(endpoint), endpoint, valuesOf, ['headers'])
  const { errors, isSubmitting } = form.formState
  const intent = useIntent()

  async function finish(done: string): Promise<void> {
    await client.invalidateQueries({ queryKey: ['endpoints'] })
    say(done)
    close()
  }

  const changing = useUntaggedChange<Webhook>({
    read: (id) => answerOf(api().webhooks.get(id)),
    write: (id, patch) => answerOf(api().webhooks.update(id, patch)),
    done: () => finish('Endpoint saved'),
    close,
  })

  async function send(values: Values): Promise<void> {
    if (values.events.length === 0) {
      form.setError('events', { message: 'Choose at least one event.' })
      return
    }
    const body = bodyOf(values)
    // Of a new one that asks for nothing, nothing is said.
    const asked = endpoint === null ? changedFields(bodyOf(given), body) : {}
    try {
      if (endpoint === null) {
        const { url, description, events, signatures } = body
        const whole = { ...asked, url, description, events, signatures }
        const made = await answerOf(api().webhooks.create(whole, { idempotencyKey: intent.keyFor(whole) }))
        onCreated?.(made.id, made.secret)
      } else {
        return await changing.save(base ?? endpoint, changedFields(bodyOf(given), body))
      }
      await finish('Endpoint added')
    } catch (error) {
      fieldErrors(
        error,
        form.setError,
        ['url', 'description', 'events', 'signatures', ...partsOf(values.conditions), ...optionNames],
        ofAddress,
      )
    }
  }

  if (changing.dialog) return changing.dialog
  return (
    <Form isBusy={isSubmitting} onSubmit={(event) => void form.handleSubmit(send)(event)}>
      {isRestored && <p role="status">Draft restored.</p>}
      <Field
        label="URL"
        hint="It starts with https and is publicly reachable. The service checks it when you save."
        error={errors.url?.message}
      >
        <TextInput
          mono
          type="url"
          placeholder="https://example.com/hooks"
          {...form.register('url', { required: 'Enter a URL.' })}
        />
      </Field>
      <Field label="Description" error={errors.description?.message}>
        <TextInput {...form.register('description')} />
      </Field>
      <EventPicker
        chosen={form.watch('events')}
        onChange={(events) => {
          form.clearErrors('events')
          form.setValue('events', events)
        }}
        error={errors.events?.message}
      />
      <Checkbox
        label="Add Standard Webhooks signatures, which libraries in many languages verify"
        {...form.register('signatures')}
      />
      <FormProvider {...form}>
        <Options form={form} endpoint={endpoint} />
      </FormProvider>
      <FormError message={errors.root?.message ?? errors.signatures?.message} />
      <DialogActions>
        <Button onClick={close}>Cancel</Button>
        <Button kind="primary" type="submit" isBusy={isSubmitting}>
          {endpoint === null ? 'Add' : 'Save'}
        </Button>
      </DialogActions>
    </Form>
  )
}

/** What few endpoints need. */
function Options({
  form,
  endpoint,
}: {
  readonly form: UseFormReturn<Values>
  readonly endpoint: Webhook | null
}) {
  const { errors } = form.formState
  const names = endpoint?.headerNames ?? []
  const isAsked = optionNames.some((name) => errors[name] !== undefined)
  return (
    <details className={css.options} open={isAsked || undefined}>
      <summary>Options</summary>
      <Field
        label="Custom headers"
        hint={
          names.length === 0
            ? 'One per line: Name: value. They are stored encrypted.'
            : `Current: ${names.join(', ')}. New headers replace all of them.`
        }
        error={errors.headers?.message}
      >
        <TextArea mono rows={2} placeholder="Authorization: Bearer …" {...form.register('headers')} />
      </Field>
      {names.length > 0 && <Checkbox label="Remove custom headers" {...form.register('dropsHeaders')} />}
      <Field label="Rate limit (attempts per second)" error={errors.rateLimit?.message}>
        <TextInput type="number" min={1} max={1000} placeholder="No limit" {...form.register('rateLimit')} />
      </Field>
      <Field label="Concurrent attempts (maximum)" error={errors.maxConcurrent?.message}>
        <TextInput type="number" min={1} max={16} placeholder="16" {...form.register('maxConcurrent')} />
      </Field>
      <Field label="Combine updates of an object (seconds)" error={errors.coalesce?.message}>
        <TextInput type="number" min={1} max={3600} placeholder="Off" {...form.register('coalesce')} />
      </Field>
      <Field label="Payload" error={errors.payload?.message}>
        <FormSelect control={form.control} name="payload" options={payloads} />
      </Field>
      <Checkbox label="Honor Retry-After" {...form.register('honorRetryAfter')} />
      <Checkbox label="Disable on 410" {...form.register('disableOn410')} />
      <ConditionEditor />
      <Checkbox label="Include changed fields" {...form.register('changedFields')} />
      <Checkbox label="Include the actor" {...form.register('includeActor')} />
      <Checkbox label="Skip events caused by its own key" {...form.register('skipOwn')} />
    </details>
  )
}

/** The headers in lines of `Name: value`. */
function headersIn(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.includes(':') ? line.indexOf(':') : line.length
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()]
    }),
  )
}

/** The controls that the service's errors about conditions belong to. */
function partsOf(conditions: readonly ConditionRow[]) {
  return conditions.flatMap((_, index) =>
    (['field', 'op', 'value'] as const).map((part) => `conditions.${index}.${part}` as const),
  )
}

function bodyOf(values: Values) {
  const { url, description, events, signatures, headers, dropsHeaders, rateLimit, maxConcurrent } = values
  const { payload, honorRetryAfter, disableOn410, conditions, includeActor, skipOwn } = values
  const offered = fieldsOf(events)
  return {
    ...(headers.trim() === '' ? {} : { headers: headersIn(headers) }),
    ...(dropsHeaders ? { headers: null } : {}),
    rateLimit: rateLimit === '' ? null : Number(rateLimit),
    maxConcurrent: maxConcurrent === '' ? null : Number(maxConcurrent),
    coalesce: values.coalesce === '' ? null : Number(values.coalesce),
    payload,
    honorRetryAfter,
    disableOn410,
    conditions:
      conditions.length === 0
        ? null
        : conditions.map((row) => conditionOf(row, offered.get(row.field) ?? 'string')),
    changedFields: values.changedFields,
    includeActor,
    skipOwn,
    url: url.trim(),
    description: description.trim() === '' ? null : description.trim(),
    events,
    signatures: signatures ? ['service' as const, 'standard' as const] : ['service' as const],
  }
}
