import {type InferenceEndpoint, inferenceClient} from './endpoint.js'
import {isLocalServer} from './profile.js'
import {placeholderModel} from './registry.js'

/** Result of probing a server. */
export interface EndpointProbe {
  reachable: boolean
  /** Reason if it is not reachable. */
  reason?: string
  /** Names of its models. */
  models: string[]
  /** Model to use: that of the endpoint if it is served; if none is configured, the only served model. */
  model: string | undefined
  /** True if the server reports a GPU runtime; else undefined. */
  gpu: true | undefined
}

const gpuRuntimes = /cuda|rocm|metal/

/**
 * Requests `/api/tags` and `/api/version` once each. Never throws; failures are reported in the result. Only a server of
 * this machine or of the local network is probed.
 */
export async function probeEndpoint(endpoint: InferenceEndpoint, timeoutMs = 5000): Promise<EndpointProbe> {
  const none = {reachable: false, models: [], model: undefined, gpu: undefined}
  if (!isLocalServer(endpoint.profile))
    return {...none, reason: `The inference profile ${endpoint.profile} does not allow probing.`}
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
    return {...none, reason: (error as Error).message}
  } finally {
    await client.close()
  }
}

function choose(model: string, models: readonly string[]): string | undefined {
  if (models.includes(model)) return model
  return model === placeholderModel && models.length === 1 ? models[0] : undefined
}
