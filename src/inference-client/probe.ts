import {type InferenceEndpoint, inferenceClient} from './endpoint.js'
import {placeholderModel} from './registry.js'

/** What a server says of itself. */
export interface EndpointProbe {
  reachable: boolean
  /** Why not, where it is not reachable. */
  reason?: string
  models: string[]
  /** The name to ask for: the endpoint's own where it is served, or the only one where none was named. */
  model: string | undefined
  /** True where the server computes on a GPU; undefined where it does not say. */
  gpu: true | undefined
}

const gpuRuntimes = /cuda|rocm|metal/

/** Asks `/api/tags` and `/api/version`, once each. Never throws: an endpoint that cannot be reached says so. */
export async function probeEndpoint(endpoint: InferenceEndpoint, timeoutMs = 5000): Promise<EndpointProbe> {
  const client = inferenceClient(endpoint, {connectTimeoutMs: timeoutMs, idleTimeoutMs: timeoutMs, attempts: 1})
  try {
    const {body} = await client.json<{models?: {name?: unknown}[]}>('/api/tags')
    const models = (body?.models ?? []).map(({name}) => name).filter((name) => typeof name === 'string')
    const version = await client.json('/api/version').then(
      ({body: about}) => JSON.stringify(about).toLowerCase(),
      () => '',
    )
    return {reachable: true, models, model: choose(endpoint.model, models), gpu: gpuRuntimes.test(version) || undefined}
  } catch (error) {
    return {reachable: false, reason: (error as Error).message, models: [], model: undefined, gpu: undefined}
  } finally {
    await client.close()
  }
}

function choose(model: string, models: readonly string[]): string | undefined {
  if (models.includes(model)) return model
  return model === placeholderModel && models.length === 1 ? models[0] : undefined
}
