import { ShownOnce } from '../../design/once.tsx'

export function TokenOnce({ token, close }: { readonly token: string | null; readonly close: () => void }) {
  return (
    <ShownOnce text={token} close={close} title="Keep this token" label="Token">
      <p>
        A program calls the API with it. It is shown this once; only a hash of it is stored, and a lost one
        can only be replaced.
      </p>
    </ShownOnce>
  )
}
