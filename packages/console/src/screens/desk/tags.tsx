import { Tag } from '../../design/status.tsx'

/** The first tags of an object, and how many more. */
export function Tags({
  of,
  atMost = of.length,
}: {
  readonly of: readonly string[]
  readonly atMost?: number
}) {
  return (
    <>
      {of.slice(0, atMost).map((tag) => (
        <span key={tag}>
          <Tag>{tag}</Tag>{' '}
        </span>
      ))}
      {of.length > atMost && <span title={of.slice(atMost).join(', ')}>+{of.length - atMost}</span>}
    </>
  )
}
