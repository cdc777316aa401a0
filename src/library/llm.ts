import {type Engine, type EngineOptions, startEngine} from '../llm/index.js'

export {SvcError} from '../errors/index.js'
export type {
  AdapterSource,
  Engine,
  EngineOptions,
  GenerateEvent,
  GenerateRequest,
  GenerateSummary,
  ModelDescription,
  Prompt,
  ReplyFormat,
} from '../llm/index.js'
export {defaultSampling, type SamplingOptions} from '../sampling/index.js'
export {type MergeRequest, type MergeResult, mergeAdapter} from '../weights/index.js'

/**
 * Loads a model directory, or a run directory with its adapter, in a separate thread. Close the engine when done.
 * @param options the defaults of threads and context length depend on the machine and the model
 * @throws SvcError model_not_found, model_family_unknown and the other errors of model directories
 *
 * @example
 * const engine = await openModel('./runs/r7')
 * const prompt = {kind: 'raw', text: 'Once upon a time'}
 * for await (const event of engine.generate({prompt, maxTokens: 50, stop: [], sampling: defaultSampling}))
 *   if (event.type === 'text') process.stdout.write(event.text)
 * await engine.close()
 */
export const openModel = (path: string, options: Partial<EngineOptions> = {}): Promise<Engine> =>
  startEngine(path, {threads: 0, numCtx: 0, ...options})
