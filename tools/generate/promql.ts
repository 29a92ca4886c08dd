/** Checks expressions of dashboard and alerts against the metrics that exist. */
import { collectDefaultMetrics, Registry } from 'prom-client'
import { catalogue, type Figure } from '../../packages/service/src/metrics/catalogue.ts'

/** Metrics of Node, from prom-client. */
const usual = usualNames()

/** Prometheus' own, with its labels. */
const scraped = ['up']
const scrapedLabels = ['job', 'instance', 'le']

/** Returns the expression. @throws Error for an unknown metric or label, or a histogram that is not read as one. */
export function promql(expression: string): string {
  // Quoted text is a value.
  const bare = expression.replaceAll(/"[^"]*"/g, '""')
  const named = [...bare.matchAll(/\b(?:deskwire|nodejs|process)_\w+(?=\W|$)/g)].map(([name]) => name)
  if (named.length === 0 && !scraped.some((name) => bare.includes(name)))
    throw new Error(`${expression} reads nothing`)
  const known = new Set<string>(['process', 'database', ...scrapedLabels])
  for (const name of named) {
    if (usual.has(name)) continue
    const figure = figureOf(name)
    if (figure === null) throw new Error(`${expression} reads ${name}, which there is not`)
    for (const label of figure.labels ?? []) known.add(label)
  }
  const selected = [...bare.matchAll(/\{([^}]*)\}/g)].flatMap(([, labels = '']) =>
    [...labels.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
  )
  const grouped = [...bare.matchAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g)].flatMap(
    ([, labels = '']) => labels.split(',').map((label) => label.trim()),
  )
  const strange = [...selected, ...grouped].find((label) => label !== '' && !known.has(label))
  if (strange !== undefined)
    throw new Error(`${expression} names the label ${strange}, which no figure of it has`)
  return expression
}

/** The expression for the databases of the selector; metrics of whole processes stay. */
export function selecting(selector: string, expression: string): string {
  return expression.replaceAll(/\b(deskwire_\w+)(\{)?/g, (text, name: string, brace: string | undefined) => {
    const figure = figureOf(name)
    if (figure === null || figure.ofAllDatabases) return text
    return brace === undefined ? `${name}{${selector}}` : `${name}{${selector},`
  })
}

/** A histogram has three series names, and none of its own. */
function figureOf(series: string): Figure | null {
  const all: Readonly<Record<string, Figure>> = catalogue
  const own = all[series]
  if (own !== undefined) return own.type === 'histogram' ? null : own
  const ofHistogram = all[series.replace(/_(?:bucket|sum|count)$/, '')]
  return ofHistogram?.type === 'histogram' ? ofHistogram : null
}

function usualNames(): ReadonlySet<string> {
  const register = new Registry()
  collectDefaultMetrics({ register })
  const names = register.getMetricsAsArray().map(({ name }) => name)
  return new Set(names.flatMap((name) => [name, `${name}_sum`, `${name}_count`, `${name}_bucket`]))
}
