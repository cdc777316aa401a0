import type {Schema} from '../contracts/index.js'
import type {Lane, OperationBase, OperationContext, Tier, ToolBinding} from '../operations/index.js'
import type {Answer} from './envelope.js'

/** Connects a running tool to its caller. */
export type CallHooks = Pick<OperationContext, 'signal' | 'report' | 'notice' | 'ask'>

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
  execution?: {taskSupport: 'optional'}
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
