import {isLoopback} from '../../net/index.js'

/** Whether a page of this origin may use the tools: only those that this machine serves itself. */
export function isOwnOrigin(origin: string): boolean {
  try {
    const {protocol, hostname} = new URL(origin)
    return (protocol === 'http:' || protocol === 'https:') && isLoopback(hostname)
  } catch {
    // `null` is what a page without an origin sends.
    return false
  }
}
