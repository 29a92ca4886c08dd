import { errorCatalogue } from '../../packages/service/src/kernel/error-catalogue.ts'
import { fieldErrorCodes } from '../../packages/service/src/kernel/errors.ts'
import { madeBy, table } from './markdown.ts'

/** The error catalogue: every code, its status, and what to do. */
export function errorPage(): string {
  const rows = Object.entries(errorCatalogue)
    .sort(([, a], [, b]) => a.status - b.status)
    .map(([code, { status, title, help }]) => [String(status), `\`${code}\``, title, help])
  return `${madeBy}
# Errors

Every refusal is \`application/problem+json\` (RFC 9457): \`{type, title, status, code, detail, requestId}\`. The
\`detail\` says what is wrong with this very request and what is accepted. Decide by \`code\`, show \`detail\`, keep
\`requestId\`.

${table(['status', 'code', 'meaning', 'what to do'], rows)}

\`validation_failed\` lists every wrong field in \`errors: [{pointer, code, detail}]\`, with a JSON pointer
into the body, and \`code\` one of ${fieldErrorCodes.map((code) => `\`${code}\``).join(', ')}.
\`duplicate\` names the object that has the value in \`existingId\`.
`
}
