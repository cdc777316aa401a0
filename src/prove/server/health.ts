import {request} from 'node:http'

/** Checks whether a healthy control plane answers on a port. */
export function isHealthy(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request({port, host: '127.0.0.1', path: '/health', agent: false, timeout: 1000}, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200)
    })
    asked.once('timeout', () => asked.destroy())
    asked.once('error', () => resolve(false))
    asked.end()
  })
}
