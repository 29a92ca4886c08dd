/**
 * The documentation as files: `docs/api/getTicket.html` is at /docs/api/getTicket, `index` is its folder, and each
 * media type of an address has a file.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { apiModules } from '../../service/src/api-document.ts'
import { kinds } from '../../service/src/desk/index.ts'
import { errorCatalogue } from '../../service/src/kernel/error-catalogue.ts'
import { type ErrorCode, errorPath } from '../../service/src/kernel/errors.ts'
import { unknownErrorFile, unknownErrorName } from '../../service/src/pages/routes.ts'
import { readAssets } from './assets.ts'
import { readDocuments } from './documents.ts'
import { errorIndex, errorPage, unknownErrorPage } from './error-pages.ts'
import { guidesList, guidesPage, home, homePage, llmsText, overviewPage } from './home.ts'
import { operationAddress, sectionsOf, sidebar, trail } from './navigation.ts'
import { eventPage, objectPage } from './object-pages.ts'
import { operationPage } from './operation-page.ts'
import { type Content, renderPage } from './page.ts'
import { eventAddress } from './prose.ts'
import { readReference } from './reference.ts'
import { objectAddress } from './schema-fields.ts'
import { searchIndex } from './search-index.ts'

export async function writeSite(into: string): Promise<void> {
  const reference = await readReference(apiModules(kinds))
  const documents = readDocuments()
  const sections = sectionsOf(reference, documents)
  const assets = readAssets()
  const { tokens, style, script, theme, icon } = assets

  function write(path: string, content: string | Buffer): void {
    const target = join(into, path)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, content)
  }

  function writePage(address: string, content: Content, path = address): void {
    const frame = {
      sidebar: sidebar(sections, address),
      trail: trail(sections, address),
      styles: [tokens.address, style.address],
      script: script.address,
      theme: theme.address,
      icon: icon.address,
    }
    write(`${path}.html`, renderPage(content, frame))
  }

  writePage('/', homePage(documents), '/index')
  write('/index.json', JSON.stringify(home()))
  write('/llms.txt', llmsText(documents))
  writePage('/docs', overviewPage(sections), '/docs/index')
  write('/docs/search.json', JSON.stringify(searchIndex(reference, documents)))
  for (const operation of reference.operations.values())
    writePage(operationAddress(operation.id), operationPage(operation, reference))
  for (const [name, schema] of reference.objects)
    writePage(objectAddress(name), objectPage(name, schema, reference))
  for (const event of reference.events.values())
    writePage(eventAddress(event.type), eventPage(event, reference))
  writePage('/docs/errors', errorIndex(), '/docs/errors/index')
  for (const code of Object.keys(errorCatalogue) as ErrorCode[])
    writePage(errorPath(code), errorPage(code, reference))
  writePage('/docs/errors', unknownErrorPage(unknownErrorName), unknownErrorFile)
  writePage('/docs/guides', guidesPage(documents), '/docs/guides/index')
  write('/docs/guides/index.md', guidesList(documents))
  for (const { path, title, text, page } of documents.values()) {
    write(`/docs/${path}`, text)
    if (page === null) continue
    const headings = page.sections.filter(({ level }) => level === 2)
    writePage(`/docs/${path}`, { title: `${title} · Deskwire`, content: page.content, headings })
  }
  for (const { address, content } of Object.values(assets)) write(address, content)
}
