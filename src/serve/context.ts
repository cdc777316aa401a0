import {type GenerateEvent, type GenerateRequest, withDefaults} from '../llm/index.js'
import {Fields} from './body.js'
import type {KeepAlive} from './keep-alive.js'
import type {ServerMetrics} from './metrics.js'
import type {ModelHost} from './model-host.js'
import type {ModelManagement} from './model-management.js'
import type {ModelPool} from './model-pool.js'
import type {EffectiveDevice, ModelEntry} from './served-model.js'

/** Shared by the routes of both protocols. */
export interface ServeContext {
  models: ModelPool
  /** Undefined if clients may not download and delete models. */
  management: ModelManagement | undefined
  /** Models of mounted routes. */
  otherModels(): Promise<readonly ModelEntry[]>
  metrics: ServerMetrics
  product: string
  device: EffectiveDevice
  /** Maximum body size of a request whose prompt is not shortened, bytes; a larger body is rejected before reading. */
  promptBodyLimit: number
}

/** The model that the body of a request names. @throws bad_request, body_missing */
export const requestedModel = (body: unknown): string | undefined => Fields.ofBody(body).string('model') || undefined

/** Generates with a served model, and records the time to the first token. */
export async function* generate(
  {metrics}: ServeContext,
  host: ModelHost,
  request: GenerateRequest,
  signal: AbortSignal,
  keepAlive?: KeepAlive,
): AsyncGenerator<GenerateEvent, void, undefined> {
  const started = performance.now()
  let first = true
  const complete = {...request, prompt: withDefaults(request.prompt, host.served.defaults)}
  for await (const event of host.generate(complete, signal, keepAlive)) {
    if (first) metrics.firstToken((performance.now() - started) / 1000)
    first = false
    yield event
  }
}
