import type {GenerateEvent, GenerateRequest} from '../llm/index.js'
import type {KeepAlive} from './keep-alive.js'
import type {ServerMetrics} from './metrics.js'
import type {ModelHost} from './model-host.js'
import type {EffectiveDevice} from './served-model.js'

/** What the routes of both dialects work with. */
export interface ServeContext {
  host: ModelHost
  metrics: ServerMetrics
  product: string
  device: EffectiveDevice
  /** Largest body of a request whose prompt is not shortened, bytes: a larger one is refused before it is read. */
  promptBodyLimit: number
  /** What a request gets that does not say. */
  defaults: {maxTokens: number; temperature: number; numCtx: number; seed(): number}
}

/** Generates on the served model, and takes the time to the first token. */
export async function* generate(
  {host, metrics}: ServeContext,
  request: GenerateRequest,
  signal: AbortSignal,
  keepAlive?: KeepAlive,
): AsyncGenerator<GenerateEvent, void, undefined> {
  const started = performance.now()
  let first = true
  for await (const event of host.generate(request, signal, keepAlive)) {
    if (first) metrics.firstToken((performance.now() - started) / 1000)
    first = false
    yield event
  }
}
