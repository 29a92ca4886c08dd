/** Rarer actions, behind one button. */
import { Menu } from '@base-ui/react/menu'
import { Button } from './button.tsx'
import css from './menu.module.css'

interface Action {
  /** A verb: `Rotate the secret`. */
  readonly title: string
  readonly run: () => void
  readonly isDangerous?: boolean
}

export function ActionMenu({
  label,
  actions,
}: {
  readonly label: string
  readonly actions: readonly Action[]
}) {
  return (
    <Menu.Root>
      <Menu.Trigger render={<Button aria-label={label} />}>More</Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={6} align="end">
          <Menu.Popup className={css.menu}>
            {actions.map(({ title, run, isDangerous }) => (
              <Menu.Item key={title} className={css.item} data-dangerous={isDangerous} onClick={run}>
                {title}
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}
