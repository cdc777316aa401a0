import {type JSONRPCRequest, type Result, Server, type ServerContext} from '@modelcontextprotocol/server'
import {SKILLS_EXTENSION_ID} from '@modelcontextprotocol/server/ext/skills'
import {logger} from '../log/index.js'
import {askingRequests} from './asking-request.js'
import {handlePrompts} from './handle-prompts.js'
import {handleResources} from './handle-resources.js'
import {tasksExtension} from './handle-tasks.js'
import {handleTools} from './handle-tools.js'
import {instructions} from './instructions.js'
import {invalidParams} from './protocol-error.js'
import type {Watcher} from './resources/feed.js'
import type {ServerParts} from './server-parts.js'
import type {Era, ServerState} from './server-state.js'
import {handleSkills} from './skills.js'
import {TaskNotifications} from './task-notifications.js'

/** Lists that are the same for every client, and as long as the server runs. */
const unchanging = {ttlMs: 300_000, cacheScope: 'public'} as const

/**
 * The library accepts only the result of a tool from a handler of `tools/call`, but a task is a result too. It reports
 * parameters that do not match the schema of a method as an internal error.
 */
class ToolServer extends Server {
  protected override _wrapHandler(
    method: string,
    handler: (request: JSONRPCRequest, context: ServerContext) => Promise<Result>,
  ): (request: JSONRPCRequest, context: ServerContext) => Promise<Result> {
    if (method === 'tools/call') return handler
    const wrapped = super._wrapHandler(method, handler)
    return async (request, context) => {
      try {
        return await wrapped(request, context)
      } catch (error) {
        throw invalidParams(method, error) ?? error
      }
    }
  }
}

/** Creates an MCP server that is not connected yet. */
export function createToolServer(parts: ServerParts, state: ServerState, era: Era): Server {
  const {host, feed} = parts
  const server = new ToolServer(
    {name: 'svc-mcp', title: 'svc', version: host.version},
    {
      capabilities: {
        // The tools of a running server never change. Clients of earlier revisions expect the declaration.
        tools: era === 'legacy' ? {listChanged: true} : {},
        resources: {subscribe: true, listChanged: true},
        prompts: {},
        logging: {},
        completions: {},
        ...(era === 'legacy'
          ? {
              tasks: {list: {}, cancel: {}, requests: {tools: {call: {}}}},
              extensions: {[SKILLS_EXTENSION_ID]: {}},
            }
          : {extensions: {[SKILLS_EXTENSION_ID]: {}, [tasksExtension]: {}}}),
      },
      instructions,
      cacheHints: {
        'server/discover': unchanging,
        'tools/list': unchanging,
        'prompts/list': unchanging,
        'resources/templates/list': unchanging,
      },
    },
  )
  const watcher = watcherOf(server)
  const notifications = era === 'legacy' ? new TaskNotifications(server, parts) : undefined
  server.onclose = () => {
    feed.leave(watcher)
    notifications?.close()
  }
  server.onerror = reportFault
  const requests = askingRequests(server, {state, era, askTimeoutMs: parts.askTimeoutMs})
  handleTools(server, parts, {state, era, requests, notifications})
  handleResources(server, parts, {running: state.running, watcher})
  handleSkills(server, state.running)
  handlePrompts(server, parts, {running: state.running, requests})
  return server
}

/** Notifies the client of a server. */
export const watcherOf = (server: Server): Watcher => ({
  updated: (uri) => void server.sendResourceUpdated({uri}).catch(() => undefined),
  listed: () => void server.sendResourceListChanged().catch(() => undefined),
})

const reported = new WeakSet<Error>()

/** Logs an error of the connection. The library reports some errors both for the connection and for its server. */
export function reportFault(error: Error): void {
  if (reported.has(error)) return
  reported.add(error)
  logger('mcp').warn({err: error}, 'cannot handle message')
}
