import type {ClientCapabilities, InputRequest} from '@modelcontextprotocol/server'
import type {Schema} from '../contracts/index.js'
import type {Lane, OperationBase, OperationContext, Tier, ToolBinding} from '../operations/index.js'
import type {Answer} from './envelope.js'

/** Connects a running tool to its caller. */
export type CallHooks = Pick<OperationContext, 'signal' | 'report' | 'notice' | 'ask'> & {
  /** Undefined if the caller is not a client of the protocol. */
  readonly client?: CallingClient
}

/** The client of a call, which can be asked for more than the answer of its user. */
export interface CallingClient {
  readonly capabilities: ClientCapabilities
  /**
   * Sends requests at the same time, and returns the results by their keys.
   * @throws ProtocolError, with which the call then fails, if the client does not support one of them
   */
  request(requests: ClientRequests): Promise<Readonly<Record<string, unknown>>>
}

/** Requests to a client by their keys. */
export type ClientRequests = Readonly<Record<string, InputRequest>>

export interface ToolHost {
  /** Opens the workspace. It is opened by the first call, so that listing tools stays fast. */
  open(): Promise<OperationBase>
  readonly version: string
}

/** Entry of `tools/list`. */
export interface ListedTool {
  name: string
  description: string
  inputSchema: Schema
  outputSchema?: Schema
  annotations: {title: string} & Hints
  /** Only of tools that can be run as tasks. */
  execution?: {taskSupport: 'optional' | 'required'}
}

/** Tool annotations of the protocol. `destructiveHint` and `idempotentHint` are only meaningful if the tool writes. */
export interface Hints {
  readOnlyHint: boolean
  destructiveHint?: boolean
  idempotentHint?: boolean
  openWorldHint: boolean
}

export interface Tool {
  readonly name: string
  readonly tier: Tier
  readonly lane: Lane
  readonly listed: ListedTool
  /** True if the tool can be called, but another one is listed for it. */
  readonly isGrouped?: true
  /** How the tool can be run as a task of the protocol; undefined if it cannot. */
  readonly task?: ToolBinding['task']
  /** Schema that arguments are validated against; the listed schema omits limits and rarely used members. */
  readonly input: Schema
  /** @throws params_invalid, and the errors of the called function */
  call(args: Readonly<Record<string, unknown>>, host: ToolHost, hooks: CallHooks): Promise<Answer>
}
