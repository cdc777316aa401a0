/**
 * MCP server: exposes the operations of a workspace as tools, and its tasks and chats as resources, over standard input
 * and output or HTTP. The MCP library is loaded when a server starts.
 */
import type {HttpOptions, HttpToolServer} from './http/serve.js'
import type {ServerParts} from './server-parts.js'

export {aliases} from './aliases.js'
export {callTool} from './call-tool.js'
export {
  type ClientName,
  clientConfiguration,
  clientFile,
  mergeIntoClientFile,
} from './client-config.js'
export type {Answer, Envelope} from './envelope.js'
export {listTool} from './list-tool.js'
export {openProgramTools} from './program/program-tools.js'
export type {PromptRow} from './prompts.js'
export {operationTools, ToolRegistry, tiersOf} from './registry.js'
export {ResourceFeed} from './resources/feed.js'
export type {FixedResource} from './resources/fixed.js'
export type {ServerParts} from './server-parts.js'
export {claimStdout, serveStdio} from './stdio.js'
export {BackgroundCalls} from './tasks/background.js'
export {callFragment} from './tasks/call-rows.js'
export type {CallHooks, Tool, ToolHost} from './tool.js'

/**
 * Serves the tools over HTTP. Loads the web framework on the first call.
 * @throws remote_bind_refused, port_in_use, address_unavailable
 */
export const serveHttp = async (parts: ServerParts, options: HttpOptions): Promise<HttpToolServer> =>
  (await import('./http/serve.js')).serveHttp(parts, options)
