import type {HttpOptions, HttpToolServer} from './http/serve.js'
import type {ServerParts} from './server-parts.js'

/**
 * Serves the tools over HTTP; what that takes is loaded here.
 * @throws remote_bind_refused, port_in_use, address_unavailable
 */
export async function serveHttp(parts: ServerParts, options: HttpOptions): Promise<HttpToolServer> {
  return (await import('./http/serve.js')).serveHttp(parts, options)
}
