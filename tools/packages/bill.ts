/** The software bill of materials of a release, in CycloneDX. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './build.ts'

interface Bill {
  readonly metadata: { readonly component: { name: string } }
  readonly components: Record<string, unknown>[]
}

/** From the tested releases in package-lock.json. Nothing is installed or downloaded. */
export function billOf(
  built: readonly { readonly name: string; readonly directory: string }[],
  version: string,
): string {
  const scratch = mkdtempSync(join(tmpdir(), 'deskwire-bill-'))
  try {
    // As a workspace of the published manifests, so without tools for development or the checkout's Node.
    const manifest = { name: 'deskwire-release', version, private: true, workspaces: ['packages/*'] }
    writeFileSync(join(scratch, 'package.json'), JSON.stringify(manifest))
    copyFileSync(join(root, 'package-lock.json'), join(scratch, 'package-lock.json'))
    for (const { name, directory } of built) {
      mkdirSync(join(scratch, 'packages', name), { recursive: true })
      copyFileSync(join(directory, 'package.json'), join(scratch, 'packages', name, 'package.json'))
    }
    const npm = (...words: string[]) =>
      execFileSync('npm', [...words, '--package-lock-only', '--loglevel=error'], {
        cwd: scratch,
        encoding: 'utf8',
      })
    npm('install', '--offline', '--ignore-scripts')
    const bill: Bill = JSON.parse(npm('sbom', '--sbom-format=cyclonedx', '--sbom-type=application'))
    bill.metadata.component.name = manifest.name
    bill.components.push(font(), ...bundledInConsole())
    return `${JSON.stringify(bill, null, 2)}\n`
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

/** The console's libraries, from the licences that its build has written. */
function bundledInConsole(): Record<string, unknown>[] {
  const licenses = readFileSync(join(root, 'packages/service/assets/console/assets/licenses.md'), 'utf8')
  return [...licenses.matchAll(/^## (\S+) - (\S+) \((.+)\)$/gm)].map(([, name, version, license]) => ({
    'bom-ref': `${name}@${version}`,
    type: 'library',
    name,
    version,
    scope: 'required',
    purl: `pkg:npm/${name?.replace('@', '%40')}@${version}`,
    licenses: [{ license: { id: license } }],
    pedigree: { notes: 'Bundled into assets/console of @deskwire/service.' },
  }))
}

/** Included in @deskwire/service as a file, so package managers do not know it. */
function font(): Record<string, unknown> {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const name = '@fontsource-variable/geist'
  const { version, license } = packages[`node_modules/${name}`]
  return {
    'bom-ref': `${name}@${version}`,
    type: 'library',
    name,
    version,
    scope: 'required',
    purl: `pkg:npm/%40fontsource-variable/geist@${version}`,
    licenses: [{ license: { id: license } }],
    pedigree: { notes: 'assets/docs of @deskwire/service has a file of it.' },
  }
}
