import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { catalogue, type Figure, type LabelsOf, type NameOf } from './catalogue.ts'

/** What an instrument of prom-client is made from. */
function configuration<Name extends keyof typeof catalogue>(register: Registry, name: Name) {
  const { help, labels = [] }: Figure = catalogue[name]
  return { name, help, labelNames: [...labels] as LabelsOf<Name>[], registers: [register] }
}

export function counter<Name extends NameOf<'counter'>>(
  register: Registry,
  name: Name,
): Counter<LabelsOf<Name>> {
  return new Counter<LabelsOf<Name>>(configuration(register, name))
}

export function histogram<Name extends NameOf<'histogram'>>(
  register: Registry,
  name: Name,
): Histogram<LabelsOf<Name>> {
  const buckets = [...catalogue[name].buckets]
  return new Histogram<LabelsOf<Name>>({ ...configuration(register, name), buckets })
}

/** `collect` sets it when it is read. */
export function gauge<Name extends NameOf<'gauge'>>(
  register: Registry,
  name: Name,
  collect: (gauge: Gauge<LabelsOf<Name>>) => void | Promise<void>,
): void {
  new Gauge<LabelsOf<Name>>({
    ...configuration(register, name),
    collect() {
      return collect(this as unknown as Gauge<LabelsOf<Name>>)
    },
  })
}
