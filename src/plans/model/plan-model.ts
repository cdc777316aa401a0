import {SvcError} from '../../errors/index.js'
import type {Generation, InferenceEndpoint} from '../../inference-client/index.js'
import {chooseModel, costOf, emitCost, localProvider, type TaskContext} from '../../tasks/index.js'

import {planSystem} from './prompts.js'

export interface PlanModel {
  /**
   * @param maxTokens most tokens of the answer
   * @throws what asking a server can throw, plan_model_slow; the reason of the signal
   */
  ask(prompt: string, maxTokens: number): Promise<PlanAnswer>
  close(): Promise<void>
}

export interface PlanAnswer {
  text: string
  /** Of the question and the answer, as the server counts them, else about a token for four characters. */
  tokens: number
}

export interface PlanModelOptions {
  endpoint: InferenceEndpoint
  temperature?: number | undefined
  topP?: number | undefined
  signal: AbortSignal
  /** Longest that one answer may take, ms. */
  timeoutMs?: number
}

/** Steps want to be the likely ones. */
const usualTemperature = 0.2
const usualTimeoutMs = 45_000

/** The model that a server has for plans; the server is asked for its models only once. */
export async function openPlanModel(context: TaskContext, options: PlanModelOptions): Promise<PlanModel> {
  // The client of the server is heavy: whoever only looks at plans does without.
  const {generate, inferenceClient, modelRegistry, servedModels} = await import('../../inference-client/index.js')
  const {endpoint, temperature = usualTemperature, topP, signal, timeoutMs = usualTimeoutMs} = options
  const client = inferenceClient(endpoint, {idleTimeoutMs: timeoutMs})
  let chosen: string | undefined
  const nameModel = async (): Promise<string> => {
    const {costPreference, modelPrices} = context.config
    const registry = modelRegistry(endpoint, await servedModels(client, signal))
    return chooseModel(registry, {}, modelPrices, costPreference).model
  }
  return {
    async ask(prompt, maxTokens) {
      chosen ??= await nameModel()
      const request = {model: chosen, system: planSystem, prompt, temperature, topP, maxTokens}
      const limited = new AbortController()
      const timer = setTimeout(() => limited.abort(new SvcError('plan_model_slow', {ms: timeoutMs})), timeoutMs)
      try {
        const generation = await generate(client, request, AbortSignal.any([signal, limited.signal]))
        recordUsage(context, chosen, generation)
        return {text: generation.text, tokens: tokensOf(prompt, generation)}
      } finally {
        clearTimeout(timer)
      }
    },
    close: () => client.close(),
  }
}

/**
 * What kept a model from giving a plan: no reason to have none.
 * @throws the reason of the signal, and what is wrong with this program or its store
 */
export function modelFailure(error: unknown, signal: AbortSignal): SvcError {
  signal.throwIfAborted()
  const failure = SvcError.from(error)
  if (failure.code === 'internal' || failure.code.startsWith('store_')) throw error
  return failure
}

function recordUsage(context: TaskContext, model: string, {inputTokens, outputTokens}: Generation): void {
  const costUsd = costOf(model, inputTokens + outputTokens, context.config.modelPrices)
  emitCost(context, {provider: localProvider, model, inputTokens, outputTokens, costUsd})
}

const charactersPerToken = 4

function tokensOf(prompt: string, {text, inputTokens, outputTokens}: Generation): number {
  const counted = inputTokens + outputTokens
  return counted > 0 ? counted : tokensOfText(prompt + text)
}

/** About how many tokens a text has. */
export const tokensOfText = ({length}: string): number => Math.ceil(length / charactersPerToken)
