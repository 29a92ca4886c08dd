#!/usr/bin/env node
/**
 * `deskwire` of a checkout. Once a cache is set, Node keeps what it made of a TypeScript file; without one it has to load its compiler,
 * which takes longer than a short command. So the first file is JavaScript.
 */
import module from 'node:module'
import { fileURLToPath } from 'node:url'

module.enableCompileCache?.(fileURLToPath(new URL('node_modules/.cache/compiled', import.meta.url)))
await import('./src/main.ts')
