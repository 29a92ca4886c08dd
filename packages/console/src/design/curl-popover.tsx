/** The calls of a screen as curl commands; loaded when it is opened. */
import { Popover } from '@base-ui/react/popover'
import { curlOf, type ShownCall } from '../api/client.ts'
import css from './code.module.css'
import { Code } from './code.tsx'

export default function CurlPopover({
  calls,
  anchor,
  close,
}: {
  readonly calls: readonly ShownCall[]
  readonly anchor: HTMLElement | null
  readonly close: () => void
}) {
  return (
    <Popover.Root open onOpenChange={(open) => open || close()}>
      <Popover.Portal>
        <Popover.Positioner anchor={anchor} sideOffset={6} align="end">
          <Popover.Popup className={css.popover} finalFocus={() => anchor}>
            <Popover.Title className={css.title}>Equivalent API calls</Popover.Title>
            <Popover.Description className={css.about}>
              With your key in <code>DESKWIRE_API_KEY</code>.
            </Popover.Description>
            {calls.map((call) => (
              <Code key={curlOf(call)} label={`${call.method} ${call.path}`} text={curlOf(call)} />
            ))}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  )
}
