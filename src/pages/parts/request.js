/** Requests to the server of the page. */
import {authorization} from './key.js'

/** An error response, with the code, message and hint of the server. */
export class ServerFault extends Error {
  constructor(status, {code, error, detail, message, hint}) {
    super([detail ?? message ?? `The server returned status ${status}.`, hint].filter(Boolean).join(' '))
    this.status = status
    this.code = code ?? error
  }
}

/** The server cannot be reached. */
export class Unreachable extends Error {
  message = 'The server is not reachable.'
}

/** Sends a request with the key. @throws ServerFault, Unreachable; the reason of the signal */
export async function request(path, {body, headers, signal} = {}) {
  const options = {
    method: body === undefined ? 'GET' : 'POST',
    headers: {...authorization(), ...(body === undefined ? {} : {'content-type': 'application/json'}), ...headers},
    body: body === undefined ? undefined : JSON.stringify(body),
    signal,
  }
  const response = await fetch(path, options).catch((error) => {
    throw signal?.aborted ? error : new Unreachable()
  })
  if (response.ok) return response
  throw new ServerFault(response.status, await response.json().catch(() => ({})))
}
