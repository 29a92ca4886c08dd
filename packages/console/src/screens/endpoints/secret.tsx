import { ShownOnce } from '../../design/once.tsx'

export function SecretOnce({
  secret,
  close,
}: {
  readonly secret: string | null
  readonly close: () => void
}) {
  return (
    <ShownOnce text={secret} close={close} title="Save this secret" label="Secret">
      Your receiver verifies signatures with it. It is shown only once. If you lose it, rotate the secret.
    </ShownOnce>
  )
}
