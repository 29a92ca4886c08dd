// Preloaded into every process of a service: says on standard error which package of MCP, OAuth or OpenTelemetry is asked for, its API apart,
// which the library of /metrics has anyway; and has none of the latter where the test says that none is installed.
import { registerHooks } from 'node:module'

registerHooks({
  resolve(specifier, context, next) {
    if (/^@(modelcontextprotocol\/|deskwire\/mcp)|^jose$/.test(specifier))
      process.stderr.write(`asked for ${specifier}\n`)
    if (specifier.startsWith('@opentelemetry/') && specifier !== '@opentelemetry/api') {
      process.stderr.write(`asked for ${specifier}\n`)
      if (process.env.TEST_TELEMETRY_MISSING === 'true') {
        const missing = new Error(`Cannot find package '${specifier}'`)
        throw Object.assign(missing, { code: 'ERR_MODULE_NOT_FOUND' })
      }
    }
    return next(specifier, context)
  },
})
