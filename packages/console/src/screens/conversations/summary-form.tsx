/** Writes the summary of a resolved conversation, instead of the service's. */
import { useForm } from 'react-hook-form'
import { Button } from '../../design/button.tsx'
import { Dialog, DialogActions } from '../../design/dialog.tsx'
import { Field, Form, FormError, fieldErrors, TextArea } from '../../design/field.tsx'
import { say } from '../../design/toasts.tsx'
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
  const form = useForm({ defaultValues: { summary: conversation.summary ?? '' } })
  const { errors, isSubmitting } = form.formState
  async function send({ summary }: { summary: string }): Promise<void> {
    if (summary === conversation.summary) return close()
    try {
      await summarize(conversation.id, summary.trim())
      say('Summary saved')
      await done()
      close()
    } catch (error) {
      fieldErrors(error, form.setError, ['summary'])
    }
  }
  return (
    <Dialog isOpen isWide close={close} title="Edit summary">
      <Form onSubmit={(event) => void form.handleSubmit(send)(event)}>
        <Field label="Summary" error={errors.summary?.message}>
          <TextArea rows={7} {...form.register('summary')} />
        </Field>
        <FormError message={errors.root?.message} />
        <DialogActions>
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" type="submit" isBusy={isSubmitting}>
            Save
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  )
}
