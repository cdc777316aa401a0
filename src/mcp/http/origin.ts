import {isLoopback} from '../../net/index.js'

/** Only pages served by this machine may use the tools. */
export function isOwnOrigin(origin: string): boolean {
  try {
    const {protocol, hostname} = new URL(origin)
    return (protocol === 'http:' || protocol === 'https:') && isLoopback(hostname)
  } catch {
    // Pages without an origin send `null`, which is not a URL.
    return false
  }
}
