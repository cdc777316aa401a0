import {appSettings, resolveSettings, type SettingSources} from '../config/index.js'
import {nearest, SvcError} from '../errors/index.js'
import {createHttpClient, type HttpClient} from '../net/index.js'

/** Maximum time without data from the server, ms: a person waits for the answer. */
const idleTimeoutMs = 10_000

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  content?: unknown
  schema?: {enum?: readonly string[]}
}

/** The part of an OpenAPI document that calls need. */
export interface ApiDocument {
  info: {title: string}
  paths: Record<string, Record<string, {operationId: string; parameters?: Parameter[]}>>
  [member: string]: unknown
}

export interface EndpointCall {
  /** `operationId` in the document of the server. */
  endpoint: string
  arguments?: Readonly<Record<string, unknown>>
}

/** A client of the running `svc db serve`: its address is that of the settings. */
function databaseClient(sources: SettingSources, timeoutMs = idleTimeoutMs): HttpClient {
  const {url, host, port, token} = resolveSettings(appSettings, sources).values
  return createHttpClient({baseUrl: url ?? `http://${host}:${port}`, token, attempts: 1, idleTimeoutMs: timeoutMs})
}

/** @throws what `HttpClient.json` throws */
export async function withDatabase<T>(sources: SettingSources, work: (client: HttpClient) => Promise<T>): Promise<T> {
  const client = databaseClient(sources)
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}

/** The endpoints of the program that a server serves, as its OpenAPI document. */
export const readDocument = async (client: HttpClient, signal: AbortSignal): Promise<ApiDocument> =>
  (await client.json<ApiDocument>('/_svc/openapi.json', {signal})).body

/**
 * Calls an endpoint, which checks its arguments.
 * @param reads only endpoints that read are called
 * @throws endpoint_unknown, endpoint_writes; what `HttpClient.json` throws
 */
export async function callEndpoint(
  client: HttpClient,
  {endpoint, arguments: values = {}}: EndpointCall,
  {reads, signal}: {reads: boolean; signal: AbortSignal},
): Promise<unknown> {
  const {paths} = await readDocument(client, signal)
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({path, method, ...operation})),
  )
  const found = operations.find(({operationId}) => operationId === endpoint)
  const ids = operations.map(({operationId}) => operationId)
  if (found === undefined) throw new SvcError('endpoint_unknown', {name: endpoint, suggestion: nearest(endpoint, ids)})
  const {path, method, parameters = []} = found
  if (reads && method !== 'get') throw new SvcError('endpoint_writes', {name: endpoint})
  const textOf = ({name, content}: Parameter): string => {
    const value = values[name]
    return content === undefined && typeof value !== 'object' ? String(value) : JSON.stringify(value)
  }
  const sent = parameters.filter(({name}) => values[name] !== undefined)
  const query = new URLSearchParams()
  for (const each of sent) if (each.in === 'query') query.append(each.name, textOf(each))
  const filled = sent
    .filter((each) => each.in === 'path')
    .reduce((text, each) => text.replace(`{${each.name}}`, encodeURIComponent(textOf(each))), path)
  const named = new Set(parameters.map(({name}) => name))
  const body = Object.fromEntries(Object.entries(values).filter(([name]) => !named.has(name)))
  const answer = await client.json<unknown>(query.size === 0 ? filled : `${filled}?${query}`, {
    method: method.toUpperCase() as 'GET',
    signal,
    ...(method === 'post' || method === 'put' ? {body} : {}),
  })
  return answer.body ?? null
}

/** Longer than the interval of the keep-alive comments of a server, ms. */
const streamTimeoutMs = 60_000

/**
 * Calls a listener after each change of any topic of a server, until the connection ends.
 * @param onOpen called when all topics are connected
 * @throws endpoint_unknown if it has no topics; what `HttpClient.json` throws
 */
export async function followDatabase(
  sources: SettingSources,
  {onOpen, onChange, signal}: {onOpen: () => void; onChange: () => void; signal: AbortSignal},
): Promise<void> {
  const client = databaseClient(sources, streamTimeoutMs)
  const ended = new AbortController()
  const until = AbortSignal.any([signal, ended.signal])
  try {
    const {paths} = await readDocument(client, until)
    const topics = paths['/api/live/{topic}']?.get?.parameters?.find(({name}) => name === 'topic')?.schema?.enum ?? []
    if (topics.length === 0) throw new SvcError('endpoint_unknown', {name: 'live'})
    const streams = await Promise.all(
      topics.map((topic) =>
        client.stream(`/api/live/${encodeURIComponent(topic)}`, {
          headers: {accept: 'text/event-stream'},
          signal: until,
        }),
      ),
    )
    onOpen()
    await Promise.race(streams.map(({body}) => eachEvent(body, onChange)))
  } finally {
    ended.abort()
    await client.close()
  }
}

/** Calls a listener for each event of a stream; comments are no events. */
async function eachEvent(body: AsyncIterable<Uint8Array>, listener: () => void): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const part of body) {
    const frames = (rest + decoder.decode(part, {stream: true})).split('\n\n')
    rest = frames.pop() ?? ''
    if (frames.some((frame) => !frame.startsWith(':'))) listener()
  }
}
