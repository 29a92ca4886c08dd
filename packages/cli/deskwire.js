#!/usr/bin/env node
/**
 * `deskwire` of a checkout. Once a cache is set, Node keeps what it made of a TypeScript file; without one it has to load its compiler,
 * which takes longer than a short command. So the first file is JavaScript.
 */
import module from 'node:module'
import { fileURLToPath } from 'node:url'

// An older Node does not read these sources. npx finds the one of the checkout once a script of package.json has linked it.
if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error(
    `deskwire: a checkout needs Node 24 or later, and this is ${process.versions.node}: install it, or run npm ci and npm start, which bring one`,
  )
  process.exit(1)
}
module.enableCompileCache?.(fileURLToPath(new URL('node_modules/.cache/compiled', import.meta.url)))
await import('./src/main.ts')
