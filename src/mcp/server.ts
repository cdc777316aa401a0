import {Server} from '@modelcontextprotocol/sdk/server/index.js'
import {logger} from '../log/index.js'
import {handlePrompts} from './handle-prompts.js'
import {handleResources} from './handle-resources.js'
import {handleTools} from './handle-tools.js'
import {instructions} from './instructions.js'
import type {Watcher} from './resources/feed.js'
import {RunningRequests} from './running-requests.js'
import type {ServerParts} from './server-parts.js'

/** MCP server of one connection. */
export interface ToolServer {
  server: Server
  /** Resolves when no request is running. */
  idle(): Promise<void>
  /** Cancels open questions: the client can no longer answer. */
  unattended(): void
}

/** Creates an MCP server that is not connected yet. */
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
  server.onerror = (error) => logger('mcp').warn({err: error}, 'cannot handle message')
  const gone = new AbortController()
  const running = new RunningRequests()
  handleTools(server, parts, {running, gone: gone.signal})
  handleResources(server, parts, {running, watcher})
  handlePrompts(server, parts, running)
  return {server, idle: () => running.idle(), unattended: () => gone.abort()}
}
