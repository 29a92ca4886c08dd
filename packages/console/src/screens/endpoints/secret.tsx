import { ShownOnce } from '../../design/once.tsx'

export function SecretOnce({
  secret,
  close,
}: {
  readonly secret: string | null
  readonly close: () => void
}) {
  return (
    <ShownOnce text={secret} close={close} title="Keep this secret" label="Secret">
      Your receiver verifies signatures with it. It is shown this once; a lost one can only be replaced.
    </ShownOnce>
  )
}
