/** Chooses one of several values; where there are many, by typing a part of its name. */
import { Field } from '@base-ui/react/field'
import { type ComponentType, type Ref, type RefCallback, useRef, useState } from 'react'
import { sayLost } from '../api/connection.ts'
import css from './select.module.css'

/** A value, or a value and its name. */
type Option = string | readonly [value: string, words: string]

export interface SelectProps {
  readonly value: string
  readonly options: readonly Option[]
  readonly onChange: (value: string) => void
  readonly 'aria-label'?: string
  readonly 'aria-keyshortcuts'?: string | undefined
  readonly isBusy?: boolean | undefined
  readonly className?: string
  /** Shown before the chosen value. */
  readonly name?: string
  readonly isSet?: boolean
  readonly ref?: RefCallback<HTMLButtonElement>
  readonly onBlur?: () => void
}

export interface SelectListProps extends SelectProps {
  readonly isOpened: boolean
  readonly hasFocus: boolean
}

let List: ComponentType<SelectListProps> | undefined

/** Until its list has loaded, which begins when it is approached, a button of the same looks. */
export function Select(props: SelectProps) {
  const [Loaded, setLoaded] = useState(() => List)
  const plain = useRef<HTMLButtonElement>(null)
  const [hasFocus, setHasFocus] = useState(false)
  const [isOpened, setOpened] = useState(false)
  if (Loaded !== undefined) return <Loaded {...props} isOpened={isOpened} hasFocus={hasFocus} />

  function load(): void {
    const loading = import('./select-list.tsx')
    loading.then((loaded) => {
      List = loaded.SelectList
      setHasFocus(document.activeElement === plain.current)
      setLoaded(() => loaded.SelectList)
    }, sayLost)
  }
  function open(): void {
    setOpened(true)
    load()
  }
  const { value, options, onChange, className, name, isBusy, isSet, ref, ...rest } = props
  const words = options.map(pairOf).find(([of]) => of === value)?.[1] ?? value
  return (
    <Field.Control
      render={
        <button
          {...rest}
          ref={(element) => {
            plain.current = element
            ref?.(element)
          }}
          type="button"
          role="combobox"
          aria-expanded={false}
          aria-haspopup="listbox"
          aria-busy={isBusy}
          className={className ?? css.control}
          data-set={isSet || undefined}
          onPointerEnter={load}
          onFocus={load}
          onMouseDown={open}
          onClick={open}
          onKeyDown={({ key }) => key.startsWith('Arrow') && open()}
        >
          <TriggerText name={name} words={words} />
        </button>
      }
    />
  )
}

export function TriggerText({
  name,
  words,
  ref,
}: {
  readonly name: string | undefined
  readonly words: string
  readonly ref?: Ref<HTMLSpanElement>
}) {
  return (
    <>
      {name !== undefined && <span className={css.name}>{name}</span>}
      <span ref={ref} className={css.value} dir="auto">
        {words}
      </span>
      <svg className={css.icon} viewBox="0 0 24 24" aria-hidden="true">
        <path d="m6 9 6 6 6-6" />
      </svg>
    </>
  )
}

export function pairOf(option: Option): readonly [value: string, words: string] {
  return typeof option === 'string' ? [option, option] : option
}

/** A filter of a list, with its name before it. An empty value is all. */
export function FilterSelect({
  label,
  value = '',
  options,
  onChange,
  every = 'Any',
  isBusy,
  shortcut,
}: {
  readonly label: string
  readonly value: string | undefined
  readonly options: readonly Option[]
  readonly onChange: (value: string | undefined) => void
  readonly every?: string
  readonly isBusy?: boolean
  readonly shortcut?: string
}) {
  return (
    <Select
      aria-label={label}
      aria-keyshortcuts={shortcut}
      name={label}
      className={css.filter ?? ''}
      value={value}
      isSet={value !== ''}
      isBusy={isBusy}
      options={[['', every], ...options]}
      onChange={(next) => onChange(next === '' ? undefined : next)}
    />
  )
}
