import {SvcError} from '../errors/index.js'
import type {HttpResponse} from '../net/index.js'
import type {OrchestratorContext} from './context.js'

/** A node as the control plane tells of it; whatever else it tells is passed on. */
export interface MeshNode {
  id: string
  last_seen_unix_ms?: number
  [fact: string]: unknown
}

/** The nodes of the mesh at this moment, or why nothing is known of them. */
export type MeshSnapshot =
  | {
      ok: true
      schema_version: number
      /** Nodes that are fresh enough. */
      node_count: number
      /** The first of them. */
      nodes: MeshNode[]
      /** There are more than `nodes` has. */
      truncated?: true
    }
  | {ok: false; error: string}

const mostNodes = 200
/** An answer is not waited for less than this, ms. */
const leastTimeoutMs = 500
const largestAnswer = 16 << 20

/**
 * Asks the control plane for its nodes, once. What goes wrong is part of the answer, never with the token in it; nothing
 * is routed by it.
 * @returns undefined where no control plane is configured
 */
export function meshSnapshot(context: OrchestratorContext): Promise<MeshSnapshot> | undefined {
  const {controlUrl, token} = context.config
  if (controlUrl === undefined) return undefined
  return askNodes(context, controlUrl).catch((error: unknown) => ({
    ok: false as const,
    error: withoutToken(SvcError.from(error).message, token),
  }))
}

async function askNodes({config, now}: OrchestratorContext, controlUrl: string): Promise<MeshSnapshot> {
  // The client is heavy, and few workspaces have a mesh.
  const {createHttpClient} = await import('../net/index.js')
  const timeoutMs = Math.max(config.meshHttpTimeoutMs, leastTimeoutMs)
  const client = createHttpClient({
    baseUrl: controlUrl,
    token: config.token,
    connectTimeoutMs: timeoutMs,
    idleTimeoutMs: timeoutMs,
    attempts: 1,
  })
  const path = '/v1/mesh/nodes'
  const tooLate = new AbortController()
  const timer = setTimeout(
    () => tooLate.abort(new SvcError('timeout', {url: controlUrl + path, ms: timeoutMs})),
    timeoutMs,
  )
  try {
    const response = await client.stream(path, {signal: tooLate.signal})
    const url = controlUrl + path
    const answer = {headers: response.headers, body: await readJson(response, url)}
    return readNodes(answer, {maxStaleMs: config.maxStaleMs, nowMs: now(), url, token: config.token})
  } finally {
    clearTimeout(timer)
    await client.close()
  }
}

/** @throws http_status where the answer is a redirect; response_too_large, document_unparsable */
async function readJson({status, body}: HttpResponse<AsyncIterable<Uint8Array>>, url: string): Promise<unknown> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of body) {
    // To leave the loop is to hang up.
    if (status >= 300) break
    length += piece.length
    if (length > largestAnswer) throw new SvcError('response_too_large', {url, limit: largestAnswer})
    pieces.push(piece)
  }
  if (status >= 300) throw new SvcError('http_status', {url, status, detail: 'a redirect is not followed'})
  const text = Buffer.concat(pieces).toString('utf8')
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch (error) {
    throw new SvcError('document_unparsable', {subject: url, reason: (error as Error).message}, {cause: error})
  }
}

/** What can be made of an answer. Newer control planes tell more, so that only what is needed is looked at. */
function readNodes(
  {body, headers}: Pick<HttpResponse<unknown>, 'body' | 'headers'>,
  {maxStaleMs, nowMs, url, token}: {maxStaleMs: number; nowMs: number; url: string; token: string | undefined},
): MeshSnapshot {
  const {schema_version: version, nodes, server_time_unix_ms: serverTime} = Object(body) as Record<string, unknown>
  if (!Array.isArray(nodes)) throw new SvcError('document_unparsable', {subject: url, reason: 'it lists no nodes'})
  const known = nodes.filter((node): node is MeshNode => typeof Object(node).id === 'string')
  // The clock of the server has stamped the nodes.
  const at = typeof serverTime === 'number' ? serverTime : (dateOf(headers.date) ?? nowMs)
  const fresh = known.filter(({last_seen_unix_ms: seen}) => maxStaleMs === 0 || isFresh(seen, at - maxStaleMs))
  return {
    ok: true,
    schema_version: typeof version === 'number' ? version : 1,
    node_count: fresh.length,
    nodes: nodesWithoutToken(fresh.slice(0, mostNodes), token),
    ...(fresh.length > mostNodes ? {truncated: true as const} : {}),
  }
}

/** A stamp of the future stays; a node without one was never heard of. */
const isFresh = (seen: unknown, since: number): boolean => typeof seen === 'number' && seen >= since

function dateOf(header: string | string[] | undefined): number | undefined {
  const ms = Date.parse([header].flat()[0] ?? '')
  return Number.isNaN(ms) ? undefined : ms
}

/** A server may repeat what it was sent. */
const withoutToken = (text: string, token: string | undefined): string =>
  token === undefined ? text : text.replaceAll(token, '[redacted]')

const nodesWithoutToken = (nodes: MeshNode[], token: string | undefined): MeshNode[] =>
  JSON.parse(JSON.stringify(nodes), (_, fact: unknown) => (typeof fact === 'string' ? withoutToken(fact, token) : fact))
