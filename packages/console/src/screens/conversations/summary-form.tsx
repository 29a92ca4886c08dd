/** Writes the summary of a resolved conversation, instead of the service's. */
import { useState } from 'react'
import { Button } from '../../design/button.tsx'
import { Dialog, DialogActions } from '../../design/dialog.tsx'
import { Field, Form, FormError, fieldErrors, TextArea } from '../../design/field.tsx'
import { say } from '../../design/toasts.tsx'
import { useDraftForm } from '../../session/draft-form.ts'
import type { Conversation } from '../desk/objects.ts'
import { summarize } from './calls.ts'

export function SummaryForm({
  conversation,
  close,
  done,
}: {
  readonly conversation: Conversation
  readonly close: () => void
  readonly done: () => Promise<unknown>
}) {
  const [before] = useState(() => ({ summary: conversation.summary ?? '' }))
  const { form, forget } = useDraftForm(`summary ${conversation.id}`, before)
  const { errors, isSubmitting } = form.formState
  function leave(): void {
    forget()
    close()
  }

  async function send({ summary }: { summary: string }): Promise<void> {
    if (summary === conversation.summary) return leave()
    try {
      await summarize(conversation.id, summary.trim())
      say('Summary saved')
      await done()
      leave()
    } catch (error) {
      fieldErrors(error, form.setError, ['summary'])
    }
  }
  return (
    <Dialog isOpen isWide close={leave} title="Edit summary">
      <Form onSubmit={(event) => void form.handleSubmit(send)(event)}>
        <Field label="Summary" error={errors.summary?.message}>
          <TextArea rows={7} {...form.register('summary')} />
        </Field>
        <FormError message={errors.root?.message} />
        <DialogActions>
          <Button onClick={leave}>Cancel</Button>
          <Button kind="primary" type="submit" isBusy={isSubmitting}>
            Save
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  )
}
