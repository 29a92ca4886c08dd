/** The generators of `npm run check -- generators`: pinned, each with its steps. */

/** Run in the generator's own folder. */
export type Command = readonly [program: string, ...args: string[]]

export interface Generator {
  readonly name: string
  readonly version: string
  readonly language: string
  /** The program of `callers/` that uses the client, and its name next to it. */
  readonly caller: { readonly from: string; readonly to: string }
  /** Packages of Python whose programs the steps run. */
  readonly python?: readonly string[]
  /** Further files, by path. */
  readonly files?: Readonly<Record<string, string>>
  /** Install, generate, compile and call: each must succeed. */
  readonly steps: readonly Command[]
}

const typescript = 'typescript@5.9.3'
const nodeTypes = '@types/node@26.6.6'
const module = JSON.stringify({ type: 'module', private: true })
const tsconfig = JSON.stringify({
  compilerOptions: {
    ...{ target: 'es2024', module: 'nodenext', types: ['node'], outDir: 'compiled', rootDir: '.' },
    ...{ strict: true, noUncheckedIndexedAccess: true, rewriteRelativeImportExtensions: true },
  },
  include: ['call.ts'],
})
const npmInstall = ['npm', 'install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts'] as const
const compileAndCall: readonly Command[] = [
  ['node_modules/.bin/tsc', '-p', '.'],
  ['node', 'compiled/call.js'],
]

export const generators: readonly Generator[] = [
  {
    name: 'openapi-typescript',
    version: '7.13.0',
    language: 'TypeScript, called with openapi-fetch 0.17.0',
    caller: { from: 'openapi_fetch.ts', to: 'call.ts' },
    files: { 'package.json': module, 'tsconfig.json': tsconfig },
    steps: [
      [...npmInstall, 'openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', typescript, nodeTypes],
      ['node_modules/.bin/openapi-typescript', 'openapi.json', '-o', 'api.ts'],
      ...compileAndCall,
    ],
  },
  {
    name: '@hey-api/openapi-ts',
    version: '0.95.0',
    language: 'TypeScript',
    caller: { from: 'hey_api.ts', to: 'call.ts' },
    files: { 'package.json': module, 'tsconfig.json': tsconfig },
    steps: [
      [...npmInstall, '@hey-api/openapi-ts@0.95.0', typescript, nodeTypes],
      ['node_modules/.bin/openapi-ts', '-i', 'openapi.json', '-o', 'client', '-c', '@hey-api/client-fetch'],
      ...compileAndCall,
    ],
  },
  {
    name: 'openapi-python-client',
    version: '0.29.1',
    language: 'Python',
    caller: { from: 'openapi_python_client.py', to: 'call.py' },
    files: {
      'config.yaml':
        'content_type_overrides:\n  application/x-ndjson: application/octet-stream\npost_hooks: []\n',
    },
    python: ['openapi-python-client==0.29.1'],
    steps: [
      [
        'openapi-python-client',
        ...'generate --path openapi.json --output-path api'.split(' '),
        ...'--meta none --config config.yaml --fail-on-warning'.split(' '),
      ],
      ['python', '-m', 'compileall', '-q', 'api'],
      ['python', 'call.py'],
    ],
  },
  {
    name: 'datamodel-code-generator',
    version: '0.86.0',
    language: 'Python (Pydantic), called with httpx',
    caller: { from: 'datamodel_code_generator.py', to: 'call.py' },
    python: ['datamodel-code-generator==0.86.0', 'httpx==0.28.1'],
    steps: [
      [
        'datamodel-codegen',
        ...'--input openapi.json --input-file-type openapi'.split(' '),
        ...'--output-model-type pydantic_v2.BaseModel --output models.py'.split(' '),
      ],
      ['python', 'call.py'],
    ],
  },
  {
    name: 'oapi-codegen',
    version: '2.8.2',
    language: 'Go',
    caller: { from: 'main.go', to: 'main.go' },
    files: { 'go.mod': 'module deskwire.example/generated\n\ngo 1.24\n' },
    steps: [
      ['go', 'install', 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2'],
      ['mkdir', 'api'],
      [
        'bin/oapi-codegen',
        '-generate',
        'types,client',
        '-package',
        'api',
        '-o',
        'api/api.go',
        'openapi.json',
      ],
      ['go', 'get', 'github.com/oapi-codegen/runtime@v1.8.0'],
      ['go', 'vet', '.'],
      ['go', 'run', '.'],
    ],
  },
]
