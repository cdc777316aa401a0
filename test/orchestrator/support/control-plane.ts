import {once} from 'node:events'
import {createServer, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'
import type {TestContext} from 'node:test'

export interface ControlPlane {
  url: string
  /** In order of arrival. */
  requests: {method: string | undefined; url: string | undefined; authorization: string | undefined}[]
}

/** A scripted mesh control plane. It stops at the end of the test. */
export async function controlPlane(
  test: Pick<TestContext, 'after'>,
  answer: (response: ServerResponse) => unknown,
): Promise<ControlPlane> {
  const requests: ControlPlane['requests'] = []
  const server = createServer(({method, url, headers}, response) => {
    requests.push({method, url, authorization: headers.authorization})
    answer(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  test.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return {url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests}
}
