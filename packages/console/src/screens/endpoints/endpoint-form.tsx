/** Creates or changes an endpoint; the service's errors about the URL are shown at the URL. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { changedFields } from '../../api/change.ts'
import { answerOf, api, type Webhook } from '../../api/client.ts'
import { useIntent } from '../../api/intent.ts'
import { Button } from '../../design/button.tsx'
import { Dialog, DialogActions } from '../../design/dialog.tsx'
import { Checkbox, Field, Form, FormError, fieldErrors, TextInput } from '../../design/field.tsx'
import { EventPicker } from './event-picker.tsx'
import { type EventType, subscribable } from './event-types.ts'

interface Values {
  url: string
  description: string
  events: EventType[]
  signatures: boolean
}

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
  return (
    <Dialog
      isOpen={isOpen}
      close={close}
      isWide
      title={endpoint === null ? 'Register an endpoint' : 'Change the endpoint'}
      about="Each of these events is sent to it by a POST, signed, and again until it answers with 2xx."
    >
      {/* Fresh fields each time it opens. */}
      {isOpen && <Fields close={close} endpoint={endpoint} onCreated={onCreated} />}
    </Dialog>
  )
}

function Fields({ close, endpoint, onCreated }: Omit<EndpointFormProps, 'isOpen'>) {
  const client = useQueryClient()
  const [given] = useState<Values>(() => ({
    url: endpoint?.url ?? '',
    description: endpoint?.description ?? '',
    events: subscribable.filter((type) => endpoint?.events.includes(type)),
    signatures: endpoint?.signatures.includes('standard') ?? true,
  }))
  const form = useForm<Values>({ defaultValues: given })
  const { errors, isSubmitting } = form.formState
  const intent = useIntent()

  async function send(values: Values): Promise<void> {
    if (values.events.length === 0) {
      form.setError('events', { message: 'Choose at least one event.' })
      return
    }
    const body = bodyOf(values)
    try {
      if (endpoint === null) {
        const params = { header: { 'Idempotency-Key': intent.keyFor(body) } }
        const made = await answerOf(api.POST('/v1/webhooks', { params, body }))
        onCreated?.(made.id, made.secret)
      } else {
        const patch = changedFields(bodyOf(given), body)
        if (Object.keys(patch).length > 0)
          await answerOf(
            api.PATCH('/v1/webhooks/{id}', { params: { path: { id: endpoint.id } }, body: patch }),
          )
      }
      await client.invalidateQueries({ queryKey: ['endpoints'] })
      close()
    } catch (error) {
      fieldErrors(error, form.setError, ['url', 'description', 'events', 'signatures'], ofAddress)
    }
  }

  return (
    <Form onSubmit={(event) => void form.handleSubmit(send)(event)}>
      <Field
        label="Address"
        hint="https, and reachable from the public network. It is checked before it is taken."
        error={errors.url?.message}
      >
        <TextInput
          mono
          type="url"
          placeholder="https://example.com/hooks"
          {...form.register('url', { required: 'Enter an address.' })}
        />
      </Field>
      <Field label="What it is for" error={errors.description?.message}>
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
        label="Sign by Standard Webhooks as well, which libraries in many languages verify"
        {...form.register('signatures')}
      />
      <FormError message={errors.root?.message ?? errors.signatures?.message} />
      <DialogActions>
        <Button onClick={close}>Cancel</Button>
        <Button kind="primary" type="submit" isBusy={isSubmitting}>
          {endpoint === null ? 'Register' : 'Save'}
        </Button>
      </DialogActions>
    </Form>
  )
}

function bodyOf({ url, description, events, signatures }: Values) {
  return {
    url: url.trim(),
    description: description.trim() === '' ? null : description.trim(),
    events,
    signatures: signatures ? ['service' as const, 'standard' as const] : ['service' as const],
  }
}
