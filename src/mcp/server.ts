import {Server} from '@modelcontextprotocol/sdk/server/index.js'
import {logger} from '../log/index.js'
import {handlePrompts} from './handle-prompts.js'
import {handleResources} from './handle-resources.js'
import {handleTools} from './handle-tools.js'
import {instructions} from './instructions.js'
import type {Watcher} from './resources/feed.js'
import {RunningRequests} from './running-requests.js'
import type {ServerParts} from './server-parts.js'

/** One connection's server. */
export interface ToolServer {
  server: Server
  /** Resolves when no call runs any more. */
  idle(): Promise<void>
  /** Nobody is there who could answer a question. */
  unattended(): void
}

/** A server of the Model Context Protocol, not connected yet. */
export function createToolServer(parts: ServerParts): ToolServer {
  const {host, feed} = parts
  const server = new Server(
    {name: 'svc-mcp', title: 'svc', version: host.version},
    {
      capabilities: {
        tools: {listChanged: true},
        resources: {subscribe: true, listChanged: true},
        prompts: {},
        logging: {},
        completions: {},
      },
      instructions,
    },
  )
  const watcher: Watcher = {
    updated: (uri) => void server.sendResourceUpdated({uri}).catch(() => undefined),
    listed: () => void server.sendResourceListChanged().catch(() => undefined),
  }
  server.onclose = () => feed.leave(watcher)
  server.onerror = (error) => logger('mcp').warn({err: error}, 'a message could not be handled')
  const gone = new AbortController()
  const running = new RunningRequests()
  handleTools(server, parts, {running, gone: gone.signal})
  handleResources(server, parts, {running, watcher})
  handlePrompts(server, parts, running)
  return {server, idle: () => running.idle(), unattended: () => gone.abort()}
}
