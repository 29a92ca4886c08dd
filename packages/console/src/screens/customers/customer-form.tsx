/** Creates or changes a customer. */
import { answerOf, api } from '../../api/client.ts'
import type { FormField } from '../desk/form-values.ts'
import { ObjectForm } from '../desk/object-form.tsx'
import type { Customer } from '../desk/objects.ts'

const fields: readonly FormField[] = [
  { name: 'name', label: 'Name', kind: 'line', isHalf: true },
  { name: 'company', label: 'Company', kind: 'line', isHalf: true },
  { name: 'email', label: 'Email', kind: 'line', isHalf: true },
  { name: 'phone', label: 'Phone', kind: 'line', isHalf: true, placeholder: '+4930123456' },
  { name: 'locale', label: 'Language', kind: 'line', isHalf: true, placeholder: 'en-GB' },
  { name: 'timezone', label: 'Time zone', kind: 'zone', isHalf: true },
  { name: 'tags', label: 'Tags', kind: 'tags', isHalf: true },
  { name: 'externalId', label: 'External ID', kind: 'line', isHalf: true },
  { name: 'customAttributes', label: 'Custom attributes', kind: 'attributes' },
]

interface CustomerFormProps {
  /** Null: creates one. */
  readonly customer: Customer | null
  readonly close: () => void
  readonly onDone?: (customer: Customer) => void
}

export function CustomerForm({ customer, close, onDone }: CustomerFormProps) {
  const common = { fields, kind: 'customers', close, onDone } as const
  if (customer !== null)
    return (
      <ObjectForm {...common} title="Edit customer" verb="Save" done="Customer saved" edited={customer} />
    )
  return (
    <ObjectForm
      {...common}
      title="Add customer"
      verb="Add"
      done="Customer added"
      create={async (body, intent) =>
        await answerOf(api().customers.create(body, { idempotencyKey: intent }))
      }
    />
  )
}
