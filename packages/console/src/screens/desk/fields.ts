/** Fields of the desk's objects and their values, in words: where a change is shown. */
import { sayExact } from '../../design/time.tsx'
import { sayStatus, useTeammates } from './objects.ts'

/** Fields that people change, and that the console shows. */
export const fieldNames: Readonly<Record<string, string>> = {
  name: 'Name',
  subject: 'Subject',
  title: 'Title',
  status: 'Status',
  startAt: 'Start',
  endAt: 'End',
  dueAt: 'Due',
  priority: 'Priority',
  type: 'Type',
  assigneeId: 'Assignee',
  handledBy: 'Handled by',
  description: 'Description',
  summary: 'Summary',
  company: 'Company',
  email: 'Email',
  phone: 'Phone',
  locale: 'Language',
  timezone: 'Time zone',
  location: 'Location',
  notes: 'Internal notes',
  body: 'Text',
  active: 'Active',
  externalId: 'External ID',
  tags: 'Tags',
  customAttributes: 'Custom attributes',
}

/** `rateLimit` as `Rate limit`, for fields that have no other name. */
export function nameOfField(field: string): string {
  const words = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return fieldNames[field] ?? sayStatus(words)
}

export function useFieldWords(): (field: string, value: unknown) => string {
  const teammates = useTeammates()
  return (field, value) => {
    if (field === 'assigneeId') return typeof value === 'string' ? teammates.nameOf(value) : 'Unassigned'
    if (['status', 'priority', 'type', 'handledBy'].includes(field) && typeof value === 'string')
      return sayStatus(value)
    return sayValue(value)
  }
}

function sayValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'Empty'
  if (Array.isArray(value)) return value.length === 0 ? 'Empty' : value.join(', ')
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (typeof value === 'object') return JSON.stringify(value)
  const text = String(value)
  return /^\d{4}-\d\d-\d\dT/.test(text) ? sayExact(Date.parse(text)) : text
}
