import { Facts, Panel } from '../../design/page.tsx'

/** Custom attributes; nothing where there are none. */
export function Attributes({ of }: { readonly of: Readonly<Record<string, string | number | boolean>> }) {
  const named = Object.entries(of).map(([name, value]) => [name, String(value)] as const)
  if (named.length === 0) return null
  return (
    <Panel title="Custom attributes">
      <Facts of={named} />
    </Panel>
  )
}
