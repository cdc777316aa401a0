import {randomUUID} from 'node:crypto'
import {SvcError} from '../../errors/index.js'
import {
  chooseModel,
  costOf,
  type Generation,
  type InferenceEndpoint,
  localProvider,
} from '../../inference-client/index.js'
import {emitCost} from '../../tasks/index.js'
import {recordModelCall} from '../../telemetry/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'

import {planSystem} from './prompts.js'
import {stepsSchema} from './read-steps.js'

export interface PlanModel {
  /**
   * @param maxTokens maximum length of the answer
   * @throws errors of the inference server, plan_model_slow; the reason of the signal
   */
  ask(prompt: string, maxTokens: number): Promise<PlanAnswer>
  close(): Promise<void>
}

export interface PlanAnswer {
  text: string
  /** Tokens of the question and the answer as counted by the server, or else estimated at four characters per token. */
  tokens: number
}

export interface PlanModelOptions {
  endpoint: InferenceEndpoint
  temperature?: number | undefined
  topP?: number | undefined
  signal: AbortSignal
  /** Time limit of one answer, ms. */
  timeoutMs?: number
  /** Session to which the calls are accounted. */
  sessionId?: string | undefined
}

/** Low, so that the model returns the most likely steps. */
const usualTemperature = 0.2
const usualTimeoutMs = 45_000

/** Opens the server's model for plans; the list of models is requested only once. */
export async function openPlanModel(context: WorkspaceContext, options: PlanModelOptions): Promise<PlanModel> {
  // The inference client is large: commands that only read plans should not load it.
  const {generate, inferenceClient, modelRegistry, servedModels} = await import('../../inference-client/index.js')
  const {endpoint, temperature = usualTemperature, topP, signal, timeoutMs = usualTimeoutMs} = options
  const client = inferenceClient(endpoint, {idleTimeoutMs: timeoutMs})
  const traceId = randomUUID()
  let chosen: string | undefined
  const nameModel = async (): Promise<string> => {
    const {costPreference, modelPrices} = context.config
    const registry = modelRegistry(endpoint, await servedModels(client, signal))
    return chooseModel(registry, {}, modelPrices, costPreference).model
  }
  return {
    async ask(prompt, maxTokens) {
      chosen ??= await nameModel()
      const request = {model: chosen, system: planSystem, prompt, temperature, topP, maxTokens, format: stepsSchema}
      const limited = new AbortController()
      const timer = setTimeout(() => limited.abort(new SvcError('plan_model_slow', {ms: timeoutMs})), timeoutMs)
      const call = {model: chosen, traceId, sessionId: options.sessionId, begunMs: performance.now()}
      let generation: Generation | undefined
      try {
        generation = await generate(client, request, AbortSignal.any([signal, limited.signal]))
      } finally {
        clearTimeout(timer)
        recordUsage(context, call, generation)
      }
      return {text: generation.text, tokens: tokensOf(prompt, generation)}
    },
    close: () => client.close(),
  }
}

/**
 * Returns the error if a model failed to return a plan, which the caller handles with a fallback.
 * @throws the reason of the signal, and errors of this program or its store
 */
export function modelFailure(error: unknown, signal: AbortSignal): SvcError {
  signal.throwIfAborted()
  const failure = SvcError.from(error)
  if (failure.code === 'internal' || failure.code.startsWith('store_')) throw error
  return failure
}

interface Call {
  model: string
  /** The same for all calls of a draft. */
  traceId: string
  sessionId: string | undefined
  begunMs: number
}

/** @param generation undefined if the call failed */
function recordUsage(context: WorkspaceContext, {begunMs, ...call}: Call, generation: Generation | undefined): void {
  const {inputTokens = 0, outputTokens = 0} = generation ?? {}
  const costUsd = costOf(call.model, inputTokens + outputTokens, context.config.modelPrices)
  const usage = {inputTokens, outputTokens, costUsd}
  const success = generation !== undefined
  recordModelCall(context, {...call, ...usage, category: 'planning', success, latencyMs: performance.now() - begunMs})
  if (success) emitCost(context, {provider: localProvider, model: call.model, ...usage})
}

const charactersPerToken = 4

function tokensOf(prompt: string, {text, inputTokens, outputTokens}: Generation): number {
  const counted = inputTokens + outputTokens
  return counted > 0 ? counted : tokensOfText(prompt + text)
}

/** Estimated number of tokens of a text. */
export const tokensOfText = ({length}: string): number => Math.ceil(length / charactersPerToken)
