/** Everything of a kind as lines (specification 8.2): a first sync by the service, in the memory of one page. */
import type { Feed, Page, PageStart } from '../../journal/feed.ts'
import { encodeCursor } from '../../kernel/cursor.ts'
import type { Problem } from '../../kernel/errors.ts'
import { fail, ok, type Result } from '../../kernel/outcome.ts'

/** Fewer when they are large (`PageForm`). */
const pageRecords = 1_000

/**
 * The text in pieces, the first already read. The last line has the cursor to go on from and the checkpoint of the rows
 * before it. `recheck` refuses a caller that may no longer read: by the result after the first page, by throwing later.
 * Throws when the database fails.
 */
export async function exportLines(
  feed: Feed,
  of: { readonly organizationId: string; readonly organizationCreatedAt: number },
  recheck: () => Promise<Problem | null> = async () => null,
): Promise<Result<AsyncIterable<string>, Problem>> {
  const { organizationId, organizationCreatedAt } = of
  const first = await read({ from: 'watermark', updatedAfter: 0, organizationCreatedAt })
  const refusal = await recheck()
  return refusal === null ? ok(pieces(first)) : fail(refusal)

  async function* pieces(start: Page): AsyncIterable<string> {
    let page = start
    while (page.checkpoint === null) {
      yield `${page.records}\n`
      page = await read({ from: 'cursor', cursor: page.next })
      const refusal = await recheck()
      if (refusal !== null) throw new Error(`an export was ended: ${refusal.detail}`)
    }
    const end = { object: 'export_end', nextCursor: encodeCursor(page.next), checkpoint: page.checkpoint }
    yield `${page.records === '' ? '' : `${page.records}\n`}${JSON.stringify(end)}\n`
  }

  async function read(start: PageStart): Promise<Page> {
    const result = await feed.page(organizationId, start, pageRecords)
    if (!result.ok) throw new Error('the database was restored during an export')
    return result.value
  }
}
