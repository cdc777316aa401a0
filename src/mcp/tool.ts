import type {Schema} from '../contracts/index.js'
import type {Lane, OperationBase, OperationContext, Tier} from '../operations/index.js'
import type {Answer} from './envelope.js'

/** What the caller of a tool has to do with the call. */
export type CallHooks = Pick<OperationContext, 'signal' | 'report' | 'notice' | 'ask'>

export interface ToolHost {
  /** Opens what operations work with; the first call of all makes it, so that nobody waits for it who lists tools. */
  open(): Promise<OperationBase>
  readonly version: string
}

/** A tool as `tools/list` gives it. */
export interface ListedTool {
  name: string
  description: string
  inputSchema: Schema
  outputSchema: Schema
  annotations: {title: string} & Hints
}

/** What a call does, as clients are told. The two in the middle say nothing where it only reads. */
export interface Hints {
  readOnlyHint: boolean
  destructiveHint?: boolean
  idempotentHint?: boolean
  openWorldHint: boolean
}

/** Something that can be called by its name. */
export interface Tool {
  readonly name: string
  readonly tier: Tier
  readonly lane: Lane
  readonly listed: ListedTool
  /** What a call is held to; the list may leave out what only refuses. */
  readonly input: Schema
  /** @throws params_invalid, and what is called throws */
  call(args: Readonly<Record<string, unknown>>, host: ToolHost, hooks: CallHooks): Promise<Answer>
}
