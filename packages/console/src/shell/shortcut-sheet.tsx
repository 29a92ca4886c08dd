/** The keys of the console, and whether they are on. */
import { Dialog } from '../design/dialog.tsx'
import { Checkbox } from '../design/field.tsx'
import css from './shell.module.css'
import { shortcuts, turnShortcuts, useShortcutsAreOn } from './shortcuts.ts'

export default function ShortcutSheet({ close }: { readonly close: () => void }) {
  const areOn = useShortcutsAreOn()
  return (
    <Dialog isOpen close={close} title="Keyboard shortcuts">
      <dl className={css.keys}>
        {shortcuts.map(([key, words]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      <Checkbox
        label="Use single-key shortcuts"
        checked={areOn}
        // It is kept at once: closing discards nothing.
        onInput={(event) => event.stopPropagation()}
        onChange={({ currentTarget }) => turnShortcuts(currentTarget.checked)}
      />
    </Dialog>
  )
}
