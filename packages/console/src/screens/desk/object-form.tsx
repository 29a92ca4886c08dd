/** The form of an object of the desk, with its libraries, in a file that a list does not wait for. */
import { Suspense } from 'react'
import { lazyScreen } from '../../router/lazy-screen.ts'
import type { ObjectFormProps } from './object-form-dialog.tsx'
import type { Editable } from './objects.ts'

const load = () => import('./object-form-dialog.tsx')
const ObjectFormDialog = lazyScreen(load, 'ObjectFormDialog') as unknown as Awaited<
  ReturnType<typeof load>
>['ObjectFormDialog']

export function ObjectForm<K extends Editable>(props: ObjectFormProps<K>) {
  return (
    <Suspense>
      <ObjectFormDialog {...props} />
    </Suspense>
  )
}
