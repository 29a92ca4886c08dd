/** What has happened, said in a corner and to those who listen. What has to be decided is a dialog, what went wrong with a form stands in it. */
import { Toast } from '@base-ui/react/toast'
import type { ReactNode } from 'react'
import { ApiProblem } from '../api/problem.ts'
import css from './toasts.module.css'

const manager = Toast.createToastManager()

/** Something was done: `Sent again.` */
export function say(title: string): void {
  manager.add({ title, timeout: 5000 })
}

/** Something was not done: what the service says of it. */
export function sayProblem(title: string, error: unknown): void {
  const reference =
    error instanceof ApiProblem && error.requestId !== null ? ` Request ${error.requestId}.` : ''
  const description = `${error instanceof Error ? error.message : 'It failed.'}${reference}`
  manager.add({ title, description, type: 'bad', priority: 'high', timeout: 12_000 })
}

export function Toasts({ children }: { readonly children: ReactNode }) {
  return (
    <Toast.Provider toastManager={manager}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className={css.viewport}>
          <Shown />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}

function Shown() {
  const { toasts } = Toast.useToastManager()
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className={css.toast}>
      <Toast.Content className={css.content}>
        <Toast.Title className={css.title} render={<p />} />
        <Toast.Description className={css.description} />
        <Toast.Close className={css.close}>Dismiss</Toast.Close>
      </Toast.Content>
    </Toast.Root>
  ))
}
