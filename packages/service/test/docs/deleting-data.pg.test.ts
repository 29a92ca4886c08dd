/** What the guide "Delete personal data" tells a reader to run, run as it is written. */
import { expect, test } from 'vitest'
import { blocksOf, blockWith, startSource } from '../../../testbed/document-programs.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const shared = sharedService()
const guide = 'docs/guides/deleting-data.md'

test('the program exports and erases a person, and prints what the guide says', async () => {
  const api = await shared().newOrganization()
  const program = startSource(
    blockWith(guide, 'ts', 'customers.erase('),
    { DESKWIRE_URL: `${shared().url}/v1`, DESKWIRE_API_KEY: api.token },
    'module-typescript',
  )
  const { code, stdout, stderr } = await program.ended
  expect({ code, stderr, stdout }).toEqual({ code: 0, stderr: '', stdout: blocksOf(guide, 'text')[0] })
  for (const kind of ['customers', 'conversations', 'messages'])
    expect((await api.get(`/v1/${kind}`)).json.data).toEqual([])
})
