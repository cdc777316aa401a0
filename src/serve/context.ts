import {type GenerateEvent, type GenerateRequest, withSystem} from '../llm/index.js'
import type {KeepAlive} from './keep-alive.js'
import type {ServerMetrics} from './metrics.js'
import type {ModelHost} from './model-host.js'
import type {EffectiveDevice, ModelEntry} from './served-model.js'

/** Shared by the routes of both protocols. */
export interface ServeContext {
  host: ModelHost
  /** Models of mounted routes. */
  otherModels(): Promise<readonly ModelEntry[]>
  metrics: ServerMetrics
  product: string
  device: EffectiveDevice
  /** Maximum body size of a request whose prompt is not shortened, bytes; a larger body is rejected before reading. */
  promptBodyLimit: number
  /** Defaults for omitted fields of a request. */
  defaults: {maxTokens: number; temperature: number; numCtx: number; seed(): number}
  /** System message of conversations without one. */
  system: string | undefined
}

/** Generates with the served model, and records the time to the first token. */
export async function* generate(
  {host, metrics, system}: ServeContext,
  request: GenerateRequest,
  signal: AbortSignal,
  keepAlive?: KeepAlive,
): AsyncGenerator<GenerateEvent, void, undefined> {
  const started = performance.now()
  let first = true
  const {prompt} = request
  const complete = {...request, prompt: system === undefined ? prompt : withSystem(prompt, system)}
  for await (const event of host.generate(complete, signal, keepAlive)) {
    if (first) metrics.firstToken((performance.now() - started) / 1000)
    first = false
    yield event
  }
}
