import {SvcError} from '../../errors/index.js'
import {isSameSecret} from '../../net/index.js'
import {isReadRoleEligible} from '../list-tool.js'
import {ToolRegistry} from '../registry.js'
import {isSkillUri} from '../skills.js'

/** What a client may do: call all permitted tools, or only those that read the state of the workspace. */
export type Role = 'write' | 'read'

export interface AccessOptions {
  /** Token of clients that may call every permitted tool. */
  token: string | undefined
  /** Token of clients that may only read. Without any token, every process of this machine may write. */
  readToken: string | undefined
  /** Names of the tools that clients may call; empty for all. */
  allowedTools: readonly string[]
  /** Names of the tools that a read-only client may call; empty for all that only read. */
  readRoleAllowedTools: readonly string[]
}

/** The role of a token; undefined if it is not valid. */
export function roleOf({token, readToken}: AccessOptions, sent: string | undefined): Role | undefined {
  if (token === undefined && readToken === undefined) return 'write'
  if (sent === undefined) return undefined
  if (token !== undefined && isSameSecret(sent, token)) return 'write'
  return readToken !== undefined && isSameSecret(sent, readToken) ? 'read' : undefined
}

/**
 * The tools of each role.
 * @throws unknown_tool for an unknown name, usage for a name in the list of the read role that changes the workspace
 */
export function registries(
  registry: ToolRegistry,
  {allowedTools, readRoleAllowedTools}: Pick<AccessOptions, 'allowedTools' | 'readRoleAllowedTools'>,
): Readonly<Record<Role, ToolRegistry>> {
  const named = (names: readonly string[]) => new Set(names.map((name) => registry.find(name)))
  const allowed = named(allowedTools)
  const readable = named(readRoleAllowedTools)
  for (const tool of readable)
    if (!isReadRoleEligible(tool))
      throw new SvcError('usage', {
        reason: `The tool ${tool.name} in SVC_MCP_HTTP_READ_ROLE_ALLOWED_TOOLS does more than read the workspace.`,
      })
  const write = registry.tools.filter((tool) => allowed.size === 0 || allowed.has(tool))
  const read = write.filter((tool) => isReadRoleEligible(tool) && (readable.size === 0 || readable.has(tool)))
  return {write: new ToolRegistry(write), read: new ToolRegistry(read)}
}

/** Requests of MCP that a read-only client may send. Resources other than skills contain chats and the output of tasks. */
const readMethods =
  /^(initialize|server\/discover|ping|logging\/setLevel|tools\/(list|call)|skills\/(list|get)|notifications\/.*)$/

/** Refuses requests that only clients with the write token may send. @throws role_denied */
export function requireReadable(body: unknown): void {
  for (const message of [body].flat() as ({method?: unknown; params?: {uri?: unknown}} | null | undefined)[]) {
    const {method, params} = message ?? {}
    if (method === 'resources/read' && isSkillUri(params?.uri)) continue
    if (typeof method === 'string' && !readMethods.test(method)) throw new SvcError('role_denied', {method})
  }
}
