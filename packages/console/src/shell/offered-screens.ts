import type { Screen } from '../router/screen.ts'
import { screens } from '../screens/index.ts'
import { useCaller } from '../session/caller.tsx'
import { useView } from '../session/view.ts'

/** The screens of the view that the key may see. */
export function useOfferedScreens(): readonly Screen[] {
  const { may } = useCaller()
  const { shows } = useView()
  return screens.filter(({ path, scope }) => shows(path) && (scope === null || may(scope)))
}
