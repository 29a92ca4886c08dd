/** The page of what `npm run test:generators` came to. */
import type { Generator } from './generators.ts'

/** `said` is the last line of each caller; null where a step failed. */
export function resultsPage(
  said: readonly { readonly generator: Generator; readonly said: string | null }[],
  on: string,
  at: Date,
): string {
  const rows = said.map(
    ({ generator: { name, version, language }, said }) =>
      `| ${name} ${version} | ${language} | ${said === null ? 'failed' : `yes: ${said}`} |`,
  )
  return `# Clients that are generated from openapi.json

Written by \`npm run test:generators -- --write-results\` on ${at.toISOString().slice(0, 10)}, with
${on}.

Each generator makes a client from the document as a running service sends it; it compiles, and a program of
\`checks/generators/callers/\` creates a customer with custom attributes, upserts 120 in a batch, lists by tag, syncs to the
end, deletes, syncs on, and syncs all kinds as one. "Yes" is: every step succeeded, and the copies are as large as the
checkpoint says.

| generator | language | works |
| --- | --- | --- |
${rows.join('\n')}
`
}
