/** A select with its list, which loads when a select is first approached. */
import { Combobox } from '@base-ui/react/combobox'
import { Select as Primitive } from '@base-ui/react/select'
import { type ReactNode, useMemo, useRef, useState } from 'react'
import css from './select.module.css'
import { pairOf, type SelectListProps, TriggerText } from './select.tsx'

/** More options than these are searched. */
const fewOptions = 8

interface Item {
  readonly value: string
  readonly label: string
}

export function SelectList({
  value,
  options,
  onChange,
  className,
  name,
  isBusy,
  isSet,
  isOpened,
  hasFocus,
  ...rest
}: SelectListProps) {
  const text = useRef<HTMLSpanElement>(null)
  // Kept here, as options that arrive late replace the one list with the other.
  const [isOpen, setOpen] = useState(isOpened)
  const isFocused = useRef(hasFocus)
  const items = useMemo(
    () =>
      options.map((option): Item => {
        const [value, label] = pairOf(option)
        return { value, label }
      }),
    [options],
  )
  const put = (next: string | null | undefined) => {
    if (next === null || next === undefined || next === value) return
    onChange(next)
    // A dialog asks before it discards what was entered.
    text.current?.dispatchEvent(new Event('input', { bubbles: true }))
  }
  const chosen = items.find((one) => one.value === value) ?? null
  const popupLabel = rest['aria-label'] ?? 'Options'
  const trigger = {
    ...rest,
    className: className ?? css.control,
    'aria-busy': isBusy,
    'data-set': isSet || undefined,
    // It replaces what had the focus.
    autoFocus: isFocused.current,
    onFocus: () => {
      isFocused.current = true
    },
    onBlur: () => {
      isFocused.current = false
      rest.onBlur?.()
    },
  }
  const inside = <TriggerText ref={text} name={name} words={chosen?.label ?? value} />
  if (items.length <= fewOptions) {
    return (
      <Primitive.Root
        items={items}
        value={value}
        // Only what was chosen: the primitive chooses another option by itself when one disappears.
        onValueChange={(next, { reason }) => reason === 'item-press' && put(next)}
        open={isOpen}
        onOpenChange={setOpen}
        modal={false}
      >
        <Primitive.Trigger {...trigger}>{inside}</Primitive.Trigger>
        <Primitive.Portal>
          <Primitive.Positioner className={css.positioner} sideOffset={4} alignItemWithTrigger={false}>
            <Primitive.Popup className={css.popup} role="dialog" aria-label={popupLabel}>
              <Primitive.List className={css.list}>
                {items.map((item) => (
                  <Primitive.Item key={item.value} value={item.value} className={css.item}>
                    <Primitive.ItemText dir="auto">{item.label}</Primitive.ItemText>
                    <Primitive.ItemIndicator>{check}</Primitive.ItemIndicator>
                  </Primitive.Item>
                ))}
              </Primitive.List>
            </Primitive.Popup>
          </Primitive.Positioner>
        </Primitive.Portal>
      </Primitive.Root>
    )
  }
  return (
    <Combobox.Root
      items={items}
      value={chosen}
      isItemEqualToValue={(one: Item, other: Item) => one.value === other.value}
      onValueChange={(item: Item | null) => put(item?.value)}
      open={isOpen}
      onOpenChange={setOpen}
      autoHighlight
    >
      <Combobox.Trigger {...trigger}>{inside}</Combobox.Trigger>
      <Combobox.Portal>
        <Combobox.Positioner className={css.positioner} sideOffset={4} align="start">
          <Combobox.Popup className={css.popup} aria-label={rest['aria-label'] ?? 'Options'}>
            <Combobox.Input className={css.search} aria-label="Search" placeholder="Search" />
            <Combobox.Empty className={css.empty}>No results</Combobox.Empty>
            <Combobox.List className={css.list}>
              {(item: Item) => (
                <Combobox.Item key={item.value} value={item} className={css.item}>
                  <span dir="auto">{item.label}</span>
                  <Combobox.ItemIndicator>{check}</Combobox.ItemIndicator>
                </Combobox.Item>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  )
}

const check: ReactNode = (
  <svg className={css.check} viewBox="0 0 24 24" aria-hidden="true">
    <path d="m5 12 5 5 9-10" />
  </svg>
)
