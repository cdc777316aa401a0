import {nearest, SvcError} from '../errors/index.js'
import type {InferenceClient} from './endpoint.js'

/** A model in the memory of a server; null where the server does not say. */
export interface RunningModel {
  name: string
  memory_bytes: number | null
  context_length: number | null
  /** ISO 8601; null if it stays loaded. */
  unloads_at: string | null
}

/** Ollama has no other word for never: a time in a far year. */
const farYear = 2200

/** The loaded models of a server. @throws what `HttpClient.json` throws, document_unparsable */
export async function runningModels(client: InferenceClient, signal: AbortSignal): Promise<RunningModel[]> {
  const models = await listOf(client, '/api/ps', signal)
  return models.map((model) => ({
    name: String(model.name),
    memory_bytes: countOf(model.size),
    context_length: countOf(model.context_length),
    unloads_at: timeOf(model.expires_at),
  }))
}

/**
 * Asks a server to unload a model.
 * @returns `unloading` if it is still answering requests
 * @throws model_not_served; what `HttpClient.json` throws
 */
export async function unloadModel(
  client: InferenceClient,
  model: string,
  signal: AbortSignal,
): Promise<'unloaded' | 'unloading' | 'not_loaded'> {
  const isLoaded = async () => (await runningModels(client, signal)).some(({name}) => isNamed(name, model))
  const served = (await listOf(client, '/api/tags', signal)).map(({name}) => String(name))
  if (!served.some((name) => isNamed(name, model)))
    throw new SvcError('model_not_served', {model, served: served.join(', '), suggestion: nearest(model, served)})
  if (!(await isLoaded())) return 'not_loaded'
  const body = {model, prompt: '', keep_alive: 0, stream: false}
  await client.json('/api/generate', {method: 'POST', body, signal})
  return (await isLoaded()) ? 'unloading' : 'unloaded'
}

/** Ollama adds its default tag to names. */
const isNamed = (name: string, wanted: string): boolean => name === wanted || name === `${wanted}:latest`

async function listOf(client: InferenceClient, path: string, signal: AbortSignal): Promise<Record<string, unknown>[]> {
  const {body} = await client.json<{models?: unknown}>(path, {signal})
  const models: unknown[] = Array.isArray(body?.models) ? body.models : []
  return models.map((model) => Object(model)).filter(({name}) => typeof name === 'string')
}

const countOf = (value: unknown): number | null =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : null

function timeOf(value: unknown): string | null {
  const time = typeof value === 'string' ? new Date(value) : new Date(Number.NaN)
  return Number.isNaN(time.getTime()) || time.getFullYear() >= farYear ? null : time.toISOString()
}
