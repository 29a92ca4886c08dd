/** What `routes.ts` serves of documentation, for the document. */
import type { Answer, ApiPart, Operation, Parameter } from '../openapi/part.ts'

const html = { mediaType: 'text/html', schema: { type: 'string' } }

export const docsPart: ApiPart = {
  tags: [],
  operations: [
    page('/openapi.json', 'getOpenApi', 'This document', {
      mediaType: 'application/json',
      schema: { type: 'object' },
    }),
    page('/docs', 'getReference', 'The interactive reference', html),
    page('/docs/errors', 'listErrorPages', 'Every error code', html),
    {
      ...page('/docs/errors/{code}', 'getErrorPage', 'What an error code means and what to do', html, {
        404: { description: 'There is no such code; the page says where all are.', ...html },
      }),
      parameters: [text('code', 'A code of a problem.', 'not_found')],
    },
    {
      ...page('/docs/assets/{file}', 'getDocsAsset', 'What the pages load', {
        mediaType: '*/*',
        schema: {},
      }),
      parameters: [text('file', 'A name as the pages have it; it changes with the content.', 'docs.css')],
      errors: ['not_found'],
    },
  ],
  schemas: {},
}

function page(
  path: string,
  id: string,
  summary: string,
  content: Pick<Answer, 'mediaType' | 'schema'>,
  others: Operation['answers'] = {},
): Operation {
  return {
    method: 'get',
    path,
    id,
    tag: 'service',
    summary,
    access: 'public',
    answers: { 200: { description: `${summary}.`, headers: ['Cache-Control'], ...content }, ...others },
  }
}

function text(name: string, description: string, example: string): Parameter {
  return { name, in: 'path', description, schema: { type: 'string', examples: [example] } }
}
