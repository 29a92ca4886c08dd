/** One endpoint. */
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { answerOf, api } from '../../api/client.ts'
import { CopyText } from '../../design/copy.tsx'
import { Facts, Page, Panel } from '../../design/page.tsx'
import { ErrorState, Loading } from '../../design/states.tsx'
import { Time } from '../../design/time.tsx'
import { hostOf } from './endpoint-list.ts'
import { EndpointStatus } from './endpoint-status.tsx'

const route = getRouteApi('/endpoints/$id')

export function OneEndpoint() {
  const { id } = route.useParams()
  const endpoint = useQuery({
    queryKey: ['endpoints', id],
    queryFn: ({ signal }) => answerOf(api.GET('/v1/webhooks/{id}', { params: { path: { id } }, signal })),
    refetchInterval: 5000,
  })
  const trail = <Link to="/endpoints">Endpoints</Link>
  if (endpoint.data === undefined) {
    return (
      <Page title="Endpoint" trail={trail}>
        {endpoint.error === null ? (
          <Loading />
        ) : (
          <ErrorState error={endpoint.error} retry={() => void endpoint.refetch()} />
        )}
      </Page>
    )
  }
  const { url, createdAt, lastSuccessAt } = endpoint.data
  return (
    <Page title={hostOf(url) ?? url} trail={trail} beside={<EndpointStatus endpoint={endpoint.data} />}>
      <Panel title="What it is">
        <Facts
          of={[
            ['Address', <CopyText key="address" text={url} />],
            ['Id', <CopyText key="id" text={id} short />],
            ['Registered', <Time key="registered" at={createdAt} />],
            ['Last success', lastSuccessAt === null ? 'never' : <Time key="success" at={lastSuccessAt} />],
          ]}
        />
      </Panel>
    </Page>
  )
}
