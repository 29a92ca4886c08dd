/** Writes the summary of a resolved conversation, instead of the service's. */
import { answerOf, api } from '../../api/client.ts'
import { Button } from '../../design/button.tsx'
import { Dialog, DialogActions } from '../../design/dialog.tsx'
import { Field, Form, FormError, fieldErrors, TextArea } from '../../design/field.tsx'
import { say } from '../../design/toasts.tsx'
import { useDraftForm } from '../../session/draft-form.ts'
import { Meanwhile } from '../desk/meanwhile.tsx'
import type { Conversation } from '../desk/objects.ts'
import { useChange } from '../desk/use-change.tsx'

interface SummaryFormProps {
  readonly conversation: Conversation
  readonly close: () => void
}

export function SummaryForm({ conversation, close }: SummaryFormProps) {
  const { id } = conversation
  const { form, base, forget } = useDraftForm(`summary ${id}`, conversation, (from) => ({
    summary: from.summary ?? '',
  }))
  const changing = useChange('conversations', leave)
  const { errors, isSubmitting } = form.formState
  function leave(): void {
    forget()
    close()
  }

  async function send({ summary: typed }: { summary: string }): Promise<void> {
    if (typed === base.summary) return leave()
    const summary = typed.trim()
    try {
      await changing.save({
        base,
        patch: { summary },
        action: {
          verb: 'Save',
          write: (ifMatch) => answerOf(api().conversations.summarize(id, { summary }, { ifMatch })),
        },
        done: () => {
          say('Summary saved')
          leave()
        },
      })
    } catch (error) {
      fieldErrors(error, form.setError, ['summary'])
    }
  }
  if (changing.isAsking) return changing.dialog
  return (
    <Dialog isOpen isWide close={leave} title="Edit summary">
      {!isSubmitting && <Meanwhile base={base} now={conversation} />}
      <Form isBusy={isSubmitting} onSubmit={(event) => void form.handleSubmit(send)(event)}>
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
