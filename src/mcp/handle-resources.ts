import {ProtocolError, ProtocolErrorCode, type ReadResourceResult, type Server} from '@modelcontextprotocol/server'
import {SvcError} from '../errors/index.js'
import {answering} from './protocol-error.js'
import {fromCursor} from './resources/cursor.js'
import type {Watcher} from './resources/feed.js'
import {fixedResources, fixedTemplates, readFixed} from './resources/fixed.js'
import {jsonType, listResources, resourceTemplates} from './resources/list.js'
import {readResource} from './resources/read.js'
import {parseUri, type ResourceName} from './resources/uri.js'
import type {RunningRequests} from './running-requests.js'
import type {ServerParts} from './server-parts.js'
import {isSkillUri, skillResult, skillTemplate} from './skills.js'

/** Handles `resources/*` requests. @param watcher receives the notifications of subscribed resources */
export function handleResources(
  server: Server,
  {host, feed, resources: fixed = []}: ServerParts,
  {running, watcher}: {running: RunningRequests; watcher: Watcher},
): void {
  server.setRequestHandler('resources/list', ({params}) =>
    answering(running, async () => {
      const place = params?.cursor === undefined ? undefined : fromCursor(params.cursor, 'chatsFrom')
      if (params?.cursor !== undefined && place === undefined)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid cursor.')
      const page = await listResources(await host.open(), place)
      return place === undefined ? {...page, resources: [...fixedResources(fixed), ...page.resources]} : page
    }),
  )
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [...resourceTemplates, skillTemplate, ...fixedTemplates(fixed)],
  }))
  server.setRequestHandler('resources/read', ({params: {uri}}) =>
    answering(running, async () => {
      const skill = await skillResult('resources/read', {uri})
      if (skill !== undefined) return skill as ReadResourceResult
      const contents = readFixed(fixed, uri)
      if (contents !== undefined) return {contents}
      const content = await readResource(await host.open(), nameOf(uri))
      if (content === undefined) throw new SvcError('resource_not_found', {uri})
      return {contents: [{uri, mimeType: jsonType, text: JSON.stringify(content)}]}
    }),
  )
  server.setRequestHandler('resources/subscribe', ({params: {uri}}) =>
    answering(running, async () => {
      // Neither changes while the server runs.
      if (readFixed(fixed, uri) !== undefined || isSkillUri(uri)) return {}
      const name = nameOf(uri)
      if ((await readResource(await host.open(), name)) === undefined) throw new SvcError('resource_not_found', {uri})
      await feed.subscribe(watcher, name, uri)
      return {}
    }),
  )
  server.setRequestHandler('resources/unsubscribe', ({params: {uri}}) => {
    feed.unsubscribe(watcher, uri)
    return {}
  })
}

/** @throws resource_not_found */
function nameOf(uri: string): ResourceName {
  const name = parseUri(uri)
  if (name === undefined) throw new SvcError('resource_not_found', {uri})
  return name
}
