import {isErrorOf, SvcError} from '../errors/index.js'
import type {HttpClient} from '../net/index.js'

/** Timeout for the list of models, ms; without it, the configured model is used. */
const listTimeoutMs = 5000

/**
 * Names of the models that the server lists. Empty if the list is not available, because the server may still be able to
 * generate.
 * @throws the reason of the signal
 */
export async function servedModels(client: HttpClient, signal: AbortSignal): Promise<string[]> {
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(), listTimeoutMs)
  try {
    const limited = AbortSignal.any([signal, timeout.signal])
    const names = await listedAt(client, {path: '/api/tags', list: 'models', name: 'name'}, limited)
    return names ?? (await listedAt(client, {path: '/v1/models', list: 'data', name: 'id'}, limited)) ?? []
  } catch {
    signal.throwIfAborted()
    return []
  } finally {
    clearTimeout(timer)
  }
}

interface ListRoute {
  path: string
  /** Member of the response that contains the models. */
  list: string
  /** Member of a model that is its name. */
  name: string
}

/** The names in a list of models; undefined if the server does not have the route. */
async function listedAt(
  client: HttpClient,
  {path, list, name}: ListRoute,
  signal: AbortSignal,
): Promise<string[] | undefined> {
  try {
    const {body} = await client.json<Readonly<Record<string, unknown>> | undefined>(path, {signal})
    const models = body?.[list]
    return (Array.isArray(models) ? models : []).map((model) => Object(model)[name]).filter(isText)
  } catch (error) {
    if (isErrorOf(SvcError.from(error), 'http_status')) return undefined
    throw error
  }
}

const isText = (name: unknown): name is string => typeof name === 'string'
