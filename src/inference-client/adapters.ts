import type {InferenceClient} from './endpoint.js'

/** An adapter of a server of svc. */
export interface ServedAdapter {
  name: string
  size_bytes: number
  /** Whether it stays in memory. */
  pinned: boolean
  loaded: boolean
}

const path = '/api/adapters'

/** @throws what `HttpClient.json` throws */
export async function listAdapters(client: InferenceClient, signal: AbortSignal): Promise<ServedAdapter[]> {
  const {body} = await client.json<{adapters?: unknown}>(path, {signal})
  const adapters: unknown[] = Array.isArray(body?.adapters) ? body.adapters : []
  return adapters.map((adapter) => {
    const {name, size, pinned, loaded} = Object(adapter)
    return {name: String(name), size_bytes: Number(size) || 0, pinned: pinned === true, loaded: loaded === true}
  })
}

/** @throws what `HttpClient.json` throws */
export async function addAdapter(
  client: InferenceClient,
  name: string,
  folder: string,
  signal: AbortSignal,
): Promise<'added' | 'replaced'> {
  const request = {method: 'POST', body: {name, path: folder}, signal} as const
  const {status} = await client.json(path, request)
  return status === 201 ? 'added' : 'replaced'
}

/** @throws what `HttpClient.json` throws */
export async function removeAdapter(client: InferenceClient, name: string, signal: AbortSignal): Promise<void> {
  await client.json(`${path}/${encodeURIComponent(name)}`, {method: 'DELETE', signal})
}
