/** How everything is, at a glance. */
import { Link } from '@tanstack/react-router'
import { Page, Panel } from '../../design/page.tsx'
import { Empty, Forbidden } from '../../design/states.tsx'
import { useCaller } from '../../session/caller.tsx'
import { hostOf, useEndpoints } from '../endpoints/endpoint-list.ts'
import { EndpointStatus } from '../endpoints/endpoint-status.tsx'

export function Overview() {
  const { may, organization } = useCaller()
  return (
    <Page title="Overview" about={organization.name}>
      {may('webhooks:read') ? <EndpointsByHealth /> : <Forbidden scope="webhooks:read" />}
    </Page>
  )
}

function EndpointsByHealth() {
  const { all } = useEndpoints()
  return (
    <Panel title="Endpoints">
      {all.length === 0 && (
        <Empty title="No endpoints yet">
          <p>An endpoint is an address of yours that is told of changes.</p>
        </Empty>
      )}
      <ul>
        {all.map((endpoint) => (
          <li key={endpoint.id}>
            <Link to="/endpoints/$id" params={{ id: endpoint.id }}>
              {hostOf(endpoint.url)}
            </Link>{' '}
            <EndpointStatus endpoint={endpoint} />
          </li>
        ))}
      </ul>
    </Panel>
  )
}
