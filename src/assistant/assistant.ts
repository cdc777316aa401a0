import {assistantSettings, resolveSettings, type SettingSources} from '../config/index.js'
import type {InferenceEndpoint} from '../inference-client/index.js'
import type {Store} from '../store/index.js'

/** The parts of a workspace that this module works on. The store has the tables of `assistantFragment`. */
export interface Workspace {
  readonly store: Store
  /** Rows of other repositories may lie in the same file; none of them is ever looked at. */
  readonly repositoryId: string
  /** Paths are relative to it. */
  readonly root: string
  /** False where the store is in memory, gone with the process. */
  readonly isKept: boolean
  /** Unix milliseconds. */
  readonly now: () => number
}

/** What a model is asked for. */
export interface Work {
  /** `chat_message`, `generate_code` */
  readonly surface: string
  readonly category: 'general' | 'codegen'
  /** From 1 to 10. */
  readonly complexity: number
  /** The cheapest model will do. */
  readonly economy: boolean
  readonly journeyId: string
  readonly sessionId?: string | undefined
  readonly traceId?: string | undefined
}

/** What one call of a model took. */
export interface ModelUsage {
  readonly provider: 'local'
  readonly model: string
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costUsd: number
}

/** What others decide, or are told. */
export interface AssistantPorts {
  /** The model that gets the work, of those that are known. */
  chooseModel(registry: readonly {readonly id: string}[], work: Work): string
  /** US dollars. */
  costOf(model: string, tokens: number): number
  /** Called in the transaction that accounts for a call, where its cost is to be an event. */
  onCost(usage: ModelUsage): void
}

/** A workspace in which a model can be asked. */
export interface Assistant extends Workspace, AssistantPorts {
  readonly endpoint: InferenceEndpoint
  /** How long one answer of a model may take in all. */
  readonly timeoutMs: number
  /** Whether costs are events as well. */
  readonly tellsCost: boolean
}

/**
 * Takes what is set about the inference server, about time and about costs. Costs are events where that is switched on; where
 * nothing is said, only while the store is not kept, and the rows about calls are lost with the process.
 */
export async function openAssistant(
  {store, repositoryId, root, isKept, now}: Workspace,
  sources: SettingSources,
  ports: AssistantPorts,
): Promise<Assistant> {
  const {resolveEndpoint} = await import('../inference-client/index.js')
  const {endpoint} = resolveEndpoint(sources)
  const {llmCostEvents: tellsCost = !isKept, timeoutMs} = resolveSettings(assistantSettings, sources).values
  return {store, repositoryId, root, isKept, now, endpoint, timeoutMs, tellsCost, ...ports}
}
