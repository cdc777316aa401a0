/** The endpoints of a program, from its OpenAPI document, with a form to call each. */
import {byId, element, setHidden, setText} from '../../../pages/parts/elements.js'
import {authorization, currentKey, storeKey} from '../../../pages/parts/key.js'
import {setLink} from '../../../pages/parts/link.js'
import {endpoint} from './endpoint.js'

const lostText = 'The server is not reachable. Start svc db serve again, then reload this page.'

/** Operations that the page can call: neither a second form of a query, nor a stream that does not end. */
const isShown = (methods, [method, {operationId, responses}]) =>
  !(method === 'post' && `${methods.get?.operationId}_by_post` === operationId) &&
  responses[200]?.content?.['text/event-stream'] === undefined

async function show() {
  const response = await fetch('/_svc/openapi.json', {headers: authorization()}).catch(() => undefined)
  if (response === undefined) return setLink('lost', 'Not reachable', lostText)
  setHidden(byId('access'), response.ok && currentKey() === undefined)
  if (!response.ok) {
    const isAsking = currentKey() === undefined
    setLink('busy', 'Token required', isAsking ? '' : 'The server rejected the token.')
    byId('token').focus()
    return undefined
  }
  const {paths, info} = await response.json()
  setLink('answers', 'Connected')
  setText(byId('program'), info.title)
  document.title = `${info.title} · Database`
  const endpoints = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter((entry) => isShown(methods, entry))
      .map(([method, operation]) => endpoint(method, path, operation)),
  )
  const none = element('div', {className: 'panel'}, element('p', {className: 'empty'}, 'The program has no endpoints.'))
  byId('endpoints').replaceChildren(...(endpoints.length === 0 ? [none] : endpoints))
  return undefined
}

byId('access').onsubmit = (event) => {
  event.preventDefault()
  storeKey(byId('token').value.trim())
  show()
}
// With a token, the browser cannot open the document by its address.
byId('document').onclick = async (event) => {
  if (currentKey() === undefined) return
  event.preventDefault()
  const response = await fetch('/_svc/openapi.json', {headers: authorization()})
  open(URL.createObjectURL(await response.blob()))
}
show()
