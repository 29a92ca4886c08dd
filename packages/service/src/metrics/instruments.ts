import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { catalogue, type LabelsOf, type NameOf } from './catalogue.ts'

export function counter<Name extends NameOf<'counter'>>(
  register: Registry,
  name: Name,
): Counter<LabelsOf<Name>> {
  const { help, labels } = catalogue[name]
  return new Counter<LabelsOf<Name>>({
    name,
    help,
    labelNames: [...labels] as LabelsOf<Name>[],
    registers: [register],
  })
}

export function histogram<Name extends NameOf<'histogram'>>(
  register: Registry,
  name: Name,
): Histogram<LabelsOf<Name>> {
  const { help, labels, buckets } = catalogue[name]
  return new Histogram<LabelsOf<Name>>({
    name,
    help,
    labelNames: [...labels] as LabelsOf<Name>[],
    buckets: [...buckets],
    registers: [register],
  })
}

/** `collect` sets it when it is read. */
export function gauge<Name extends NameOf<'gauge'>>(
  register: Registry,
  name: Name,
  collect: (gauge: Gauge<LabelsOf<Name>>) => void | Promise<void>,
): void {
  const { help, labels } = catalogue[name]
  new Gauge<LabelsOf<Name>>({
    name,
    help,
    labelNames: [...labels] as LabelsOf<Name>[],
    registers: [register],
    collect() {
      return collect(this as unknown as Gauge<LabelsOf<Name>>)
    },
  })
}
