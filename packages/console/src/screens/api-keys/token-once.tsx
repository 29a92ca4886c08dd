import { ShownOnce } from '../../design/once.tsx'

export function TokenOnce({ token, close }: { readonly token: string | null; readonly close: () => void }) {
  return (
    <ShownOnce text={token} close={close} title="Save this token" label="Token">
      <p>
        Your program calls the API with it. It is shown only once, as the service stores a hash. If you lose
        it, rotate the key.
      </p>
    </ShownOnce>
  )
}
