import {median, round} from '../../src/bench/measure.js'
import {type GenerateEvent, type GenerateRequest, loadLanguageModel, startEngine} from '../../src/llm/index.js'
import {defaultSampling} from '../../src/sampling/index.js'
import {sharedData} from '../support/project.js'

const request: GenerateRequest = {
  prompt: {kind: 'beginning'},
  maxTokens: 256,
  stop: [],
  sampling: {...defaultSampling, temperature: 0},
}
const load = {threads: 1, numCtx: 0}

/** Load time and speed of the small story model in the calling thread and in the thread of an engine. */
export async function generation() {
  const directory = sharedData('stories260K')
  if (directory === undefined) return {skipped: 'needs shared/data/stories260K beside the project'}
  const direct = await measure(() => loadLanguageModel(directory, load))
  const engine = await measure(async () => {
    const started = await startEngine(directory, load)
    return {generate: started.generate, release: () => started.close()}
  })
  return {direct, engine, engine_to_direct: round(engine.tokens_per_second / direct.tokens_per_second, 3)}
}

interface Loaded {
  generate(asked: GenerateRequest): AsyncIterable<GenerateEvent>
  release(): Promise<void>
}

async function measure(open: () => Promise<Loaded>) {
  const started = performance.now()
  const model = await open()
  const loadMs = performance.now() - started
  const speeds: number[] = []
  for (let run = 0; run < 6; run++)
    for await (const event of model.generate(request))
      if (event.type === 'done' && run > 0) speeds.push((event.completionTokens / event.decodeMs) * 1000)
  await model.release()
  return {load_ms: round(loadMs), tokens_per_second: round(median(speeds))}
}
