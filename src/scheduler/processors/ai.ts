import {SvcError} from '../../errors/index.js'
import {
  type CostPreference,
  chooseModel,
  costOf,
  type Generation,
  type generate,
  type InferenceClient,
  type InferenceEndpoint,
  localProvider,
  type ModelChoice,
  type ModelPrices,
} from '../../inference-client/index.js'
import type {Task, Usage} from '../../tasks/index.js'
import {type TaskPhase, taskPhases} from '../../workspace/index.js'

import type {Outcome, Processor, RunReport} from './processor.js'
import {type PhaseBudget, phaseBudget, phasePrompt, systemPrompt} from './prompts.js'

export interface AiOptions {
  endpoint: InferenceEndpoint
  prices: ModelPrices
  costPreference: CostPreference
  /** Facts about the workspace that are added to the prompt; read once per run. */
  memory?: () => Promise<string>
  /** Maximum silence of the server, ms. A large model on a CPU may need minutes before its first token. */
  idleTimeoutMs?: number
  /** Called once per run, before the model is asked. */
  onModelChosen?: (task: Task, choice: ModelChoice) => void
  /** Called after each call of the model. @param generation undefined if it failed */
  onModelCall?: (task: Task, call: ModelAnswer) => void
}

export interface ModelAnswer {
  model: string
  /** Undefined if the call failed. */
  generation: Generation | undefined
  latencyMs: number
}

/** The phase whose answer is the result. The later phases judge that answer and are returned as details. */
const resultPhase: TaskPhase = 'act'

/**
 * Runs a task with a model in phases, one streamed generation each. Every phase receives the earlier answers.
 */
export const aiProcessor = (options: AiOptions): Processor => ({
  async run(task, report, signal) {
    signal.throwIfAborted()
    // The inference client is large: commands that only read tasks should not load it.
    const {contextLengthOf, generate, inferenceClient, modelRegistry, servedModels} = await import(
      '../../inference-client/index.js'
    )
    const {endpoint, prices, costPreference, idleTimeoutMs = 300_000, onModelCall, memory} = options
    const client = inferenceClient(endpoint, {idleTimeoutMs})
    try {
      const registry = modelRegistry(endpoint, await servedModels(client, signal))
      const choice = chooseModel(registry, task, prices, costPreference)
      options.onModelChosen?.(task, choice)
      const contextLength = endpoint.contextLength ?? (await contextLengthOf(client, choice.model, signal))
      const budget = phaseBudget(contextLength, endpoint.maxTokens)
      const work = {generate, client, endpoint, budget, report, signal, onModelCall, memory: (await memory?.()) ?? ''}
      const generations = await workThrough(task, choice.model, work)
      return outcome(choice.model, generations, prices)
    } finally {
      await client.close()
    }
  },
})

interface Work {
  generate: typeof generate
  client: InferenceClient
  endpoint: InferenceEndpoint
  budget: PhaseBudget
  report: RunReport
  signal: AbortSignal
  onModelCall: AiOptions['onModelCall']
  memory: string
}

type Generations = Readonly<Record<TaskPhase, Generation>>

async function workThrough(task: Task, model: string, work: Work): Promise<Generations> {
  const {client, report, signal} = work
  const {temperature, contextLength} = work.endpoint
  const {promptBytes, answerTokens: maxTokens} = work.budget
  const generations: Partial<Record<TaskPhase, Generation>> = {}
  for (const phase of taskPhases) {
    signal.throwIfAborted()
    report.phase(phase)
    const prompt = phasePrompt(phase, task, {answers: answersOf(generations), memory: work.memory}, promptBytes)
    const request = {model, system: systemPrompt, prompt, temperature, maxTokens, contextLength}
    const begunMs = performance.now()
    let generation: Generation | undefined
    try {
      generation = await work.generate(client, request, signal)
    } finally {
      work.onModelCall?.(task, {model, generation, latencyMs: performance.now() - begunMs})
    }
    generations[phase] = generation
    const answer = generation.text.trim()
    if (answer !== '') report.message(`${phase}: ${answer}`)
    else if (phase === resultPhase)
      throw new SvcError('task_run_failed', {reason: `the model ${model} returned an empty answer in the act phase`})
  }
  return generations as Generations
}

const answersOf = (generations: Partial<Generations>): Partial<Record<TaskPhase, string>> =>
  Object.fromEntries(Object.entries(generations).map(([phase, {text}]) => [phase, text.trim()]))

function outcome(model: string, generations: Generations, prices: ModelPrices): Outcome {
  const phases = answersOf(generations)
  const cutOff = taskPhases.filter((phase) => generations[phase].cutOff)
  return {
    text: phases[resultPhase] ?? '',
    details: {model, phases, ...(cutOff.length > 0 ? {cut_off: cutOff} : {})},
    usage: usage(model, Object.values(generations), prices),
  }
}

function usage(model: string, generations: readonly Generation[], prices: ModelPrices): Usage {
  const sum = (of: (generation: Generation) => number) => generations.reduce((total, each) => total + of(each), 0)
  const inputTokens = sum((each) => each.inputTokens)
  const outputTokens = sum((each) => each.outputTokens)
  const costUsd = costOf(model, inputTokens + outputTokens, prices)
  return {provider: localProvider, model, inputTokens, outputTokens, costUsd}
}
