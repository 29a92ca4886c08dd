import { type FieldPath, type FieldValues, type UseControllerProps, useController } from 'react-hook-form'
import { Select, type SelectProps } from './select.tsx'

interface FormSelectProps<T extends FieldValues, N extends FieldPath<T>>
  extends Pick<SelectProps, 'options' | 'aria-label'>,
    Pick<UseControllerProps<T, N>, 'control' | 'name' | 'rules'> {
  /** After the field has it. */
  readonly onChange?: (value: string) => void
}

/** A choice as a field of a form. */
export function FormSelect<T extends FieldValues, N extends FieldPath<T>>({
  control,
  name,
  rules,
  onChange,
  ...rest
}: FormSelectProps<T, N>) {
  const { field } = useController({ name, ...(control && { control }), ...(rules && { rules }) })
  return (
    <Select
      {...rest}
      ref={field.ref}
      value={field.value}
      onBlur={field.onBlur}
      onChange={(value) => {
        field.onChange(value)
        onChange?.(value)
      }}
    />
  )
}
