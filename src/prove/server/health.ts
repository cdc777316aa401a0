import {request} from 'node:http'
import {routes} from '../../mesh/index.js'

/** Checks whether a healthy control plane answers on a port. */
export const isHealthy = (port: number): Promise<boolean> => answers(port, routes.health.path)

/** Checks whether a control plane accepts a token of the role worker or admin. */
export const accepts = (port: number, token: string): Promise<boolean> =>
  answers(port, `${routes.list_nodes.path}?limit=1`, {authorization: `Bearer ${token}`})

function answers(port: number, path: string, headers: Record<string, string> = {}): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request({port, host: '127.0.0.1', path, headers, agent: false, timeout: 1000}, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200)
    })
    asked.once('timeout', () => asked.destroy())
    asked.once('error', () => resolve(false))
    asked.end()
  })
}
