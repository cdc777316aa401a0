/** Requests to the server, with the token. */
import {byId, setText} from '../../../pages/parts/elements.js'
import {authorization, currentKey, storeKey} from '../../../pages/parts/key.js'

/** An error response, with the code, message and hint of the server. */
export class ServerFault extends Error {
  constructor(status, {error, message, hint}) {
    super([message ?? `The server returned status ${status}.`, hint].filter(Boolean).join(' '))
    this.status = status
    this.code = error
  }
}

/** The server cannot be reached. */
export class Unreachable extends Error {
  message = 'The server is not reachable. Is svc speech serve running?'
}

/**
 * Sends a request, again after asking for the token if the server rejects it.
 * @param onProgress called with the sent part of the body, 0 to 1
 * @returns the JSON of the response
 */
export async function send(path, {body, signal, onProgress} = {}) {
  for (;;) {
    const {status, json} = await exchange(path, body, signal, onProgress)
    if (status < 300) return json
    if (status !== 401) throw new ServerFault(status, json)
    await askToken(signal)
  }
}

/** Uses XMLHttpRequest, because fetch does not report the progress of an upload. */
function exchange(path, body, signal, onProgress) {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const request = new XMLHttpRequest()
    request.open(body === undefined ? 'GET' : 'POST', path)
    for (const [name, value] of Object.entries(authorization())) request.setRequestHeader(name, value)
    if (onProgress !== undefined) request.upload.onprogress = ({loaded, total}) => onProgress(loaded / total)
    request.onload = () => resolve({status: request.status, json: parse(request.responseText)})
    request.onerror = () => reject(new Unreachable())
    request.onabort = () => reject(signal.reason)
    signal?.addEventListener('abort', () => request.abort(), {once: true})
    request.send(body)
  })
}

function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

/**
 * Opens a WebSocket connection. A browser sends no Authorization header with it, so the token is a subprotocol, next to
 * the one that the server selects.
 * @throws Error if the token has characters that a subprotocol must not have
 */
export function openSocket(path) {
  try {
    return new WebSocket(location.origin.replace(/^http/, 'ws') + path, [
      'svc.speech',
      ...(currentKey() === undefined ? [] : [`bearer.${currentKey()}`]),
    ])
  } catch {
    throw new Error('Browsers cannot send this token over WebSocket. Use a token of letters and digits.')
  }
}

let asking
/** Asks for another token. Requests that fail at the same time share one question. */
function askToken(signal) {
  asking ??= new Promise((resolve, reject) => {
    const dialog = byId('ask')
    const input = byId('token')
    setText(byId('ask-fault'), currentKey() === undefined ? '' : 'The server rejected the token.')
    input.value = ''
    dialog.querySelector('form').onsubmit = (event) => {
      event.preventDefault()
      storeKey(input.value.trim())
      resolve()
      dialog.close()
    }
    byId('ask-no').onclick = () => dialog.close()
    signal?.addEventListener('abort', () => dialog.close(), {once: true})
    dialog.onclose = () => {
      asking = undefined
      reject(new Error('The server requires a token.'))
    }
    dialog.showModal()
  })
  return asking
}
