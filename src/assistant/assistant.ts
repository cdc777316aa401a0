import {assistantSettings, resolveSettings, type SettingSources} from '../config/index.js'
import type {InferenceEndpoint} from '../inference-client/index.js'
import type {Store} from '../store/index.js'
import {resolveTelemetry, type Telemetry} from '../telemetry/index.js'

/** The parts of a workspace that this module uses. The store has the tables of `assistantFragment` and `telemetryFragment`. */
export interface Workspace {
  readonly store: Store
  /** The file may contain rows of other repositories; they are never read. */
  readonly repositoryId: string
  /** Base of relative paths. */
  readonly root: string
  /** False if the store is in memory and ends with the process. */
  readonly isKept: boolean
  /** Unix milliseconds. */
  readonly now: () => number
}

/** A piece of work for a model. */
export interface Work {
  /** `chat_message`, `generate_code` */
  readonly surface: string
  readonly category: 'general' | 'codegen'
  /** From 1 to 10. */
  readonly complexity: number
  /** The cheapest model is sufficient. */
  readonly economy: boolean
  readonly journeyId: string
  readonly sessionId?: string | undefined
  readonly traceId?: string | undefined
}

/** The usage of one model call. */
export interface ModelUsage {
  readonly provider: 'local'
  readonly model: string
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costUsd: number
}

/** Decisions and notifications that the caller implements. */
export interface AssistantPorts {
  /** Chooses the model for the work from the registry. */
  chooseModel(registry: readonly {readonly id: string}[], work: Work): string
  /** US dollars. */
  costOf(model: string, tokens: number): number
  /** Called in the transaction that records a call, if costs are emitted as events. */
  onCost(usage: ModelUsage): void
}

/** A workspace with access to models. */
export interface Assistant extends Workspace, AssistantPorts {
  readonly endpoint: InferenceEndpoint
  /** Time limit for a complete answer. */
  readonly timeoutMs: number
  readonly telemetry: Telemetry
}

/**
 * Opens the assistant with the settings for the inference server, time limit and costs. If unset, costs are emitted as
 * events only while the store is in memory, since its records of calls are lost with the process.
 */
export async function openAssistant(
  {store, repositoryId, root, isKept, now}: Workspace,
  sources: SettingSources,
  ports: AssistantPorts,
): Promise<Assistant> {
  const {resolveEndpoint} = await import('../inference-client/index.js')
  const {endpoint} = resolveEndpoint(sources)
  const {telemetry} = resolveTelemetry(sources)
  const {timeoutMs} = resolveSettings(assistantSettings, sources).values
  return {store, repositoryId, root, isKept, now, endpoint, timeoutMs, telemetry, ...ports}
}
