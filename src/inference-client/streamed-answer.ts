import {isObject} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import type {HttpClient} from '../net/index.js'
import type {ToolCall} from './chat-request.js'
import {type NdjsonLimits, ndjsonValues} from './ndjson.js'

export interface Generation {
  text: string
  /** Tools that the model calls; absent if there are none. */
  calls?: readonly ToolCall[]
  /** As reported by the server; 0 if it does not report them. */
  inputTokens: number
  outputTokens: number
  /** Whether the answer was cut off at the maximum number of tokens. */
  cutOff: boolean
}

export interface GenerationLimits extends NdjsonLimits {
  /** Maximum length of the answer, characters. */
  answerLength: number
}

/** The last line may contain the token ids of the complete context. */
export const defaultGenerationLimits: GenerationLimits = {
  lineBytes: 4 << 20,
  totalBytes: 256 << 20,
  answerLength: 1 << 20,
}

type Line = Readonly<Record<string, unknown>>

/** A route that streams NDJSON, and the location of the text in a line. */
export interface AnswerRoute {
  path: string
  /** Name of the text field in errors. */
  member: string
  textOf(line: Line): unknown
  /** What the model thinks, if the route has it. */
  thinkingOf?(line: Line): unknown
  /** The calls of tools, if the route has them; undefined if they are malformed. */
  callsOf?(line: Line): ToolCall[] | undefined
}

/** Called with each piece of an answer; the next one is read when they have returned. */
export interface Listeners {
  onDelta?: ((text: string) => void | Promise<void>) | undefined
  /** Called with what the model thinks. */
  onThinking?: ((text: string) => void | Promise<void>) | undefined
}

export interface Reading extends Listeners {
  signal: AbortSignal
  limits: GenerationLimits
}

const protocolError = (url: string) => (reason: string) => new SvcError('inference_protocol', {url, reason})

/**
 * Sends a request and streams the answer. The connection is closed at the end of the answer or when the signal aborts.
 * @throws inference_protocol for an invalid response, inference_failed if the server reports an error, what
 *   `HttpClient.stream` throws
 */
export async function streamedAnswer(
  client: HttpClient,
  route: AnswerRoute,
  body: object,
  {signal, limits, ...listeners}: Reading,
): Promise<Generation> {
  const url = client.baseUrl + route.path
  const invalid = protocolError(url)
  const finished = new AbortController()
  try {
    const {
      status,
      headers,
      body: bytes,
    } = await client.stream(route.path, {method: 'POST', body, signal: AbortSignal.any([signal, finished.signal])})
    const reason = invalidHead(status, headers['content-type'])
    if (reason !== undefined) throw invalid(reason)
    const values = ndjsonValues(bytes, limits, invalid)
    return await readAnswer(values, {route, url, maxLength: limits.answerLength, ...listeners})
  } finally {
    // The rest is not read, so that the server can stop generating.
    finished.abort()
  }
}

/** Why the head of a response is invalid; the client has already thrown for a status of 400 or more. */
function invalidHead(status: number, contentType: string | string[] | undefined): string | undefined {
  if (status !== 200) return `it returns status ${status}`
  return String(contentType).startsWith('text/html') ? 'it returns a web page' : undefined
}

interface Answering extends Listeners {
  route: AnswerRoute
  url: string
  /** Characters. */
  maxLength: number
}

async function readAnswer(
  values: AsyncIterable<unknown>,
  {route, url, maxLength, onDelta, onThinking}: Answering,
): Promise<Generation> {
  const invalid = protocolError(url)
  const texts: string[] = []
  const calls: ToolCall[] = []
  let length = 0
  for await (const value of values) {
    const chunk = readChunk(value, route, url)
    length += chunk.text.length + chunk.thinking.length
    calls.push(...chunk.calls)
    if (chunk.calls.length > 0) length += JSON.stringify(chunk.calls).length
    if (length > maxLength) throw invalid(`its answer is longer than ${maxLength} characters`)
    if (chunk.thinking !== '') await onThinking?.(chunk.thinking)
    if (chunk.text !== '') {
      texts.push(chunk.text)
      await onDelta?.(chunk.text)
    }
    if (chunk.end !== undefined) return {text: texts.join(''), ...(calls.length === 0 ? {} : {calls}), ...chunk.end}
  }
  throw invalid('its answer is incomplete')
}

interface Chunk {
  text: string
  thinking: string
  calls: readonly ToolCall[]
  end?: Omit<Generation, 'text' | 'calls'>
}

function readChunk(value: unknown, {textOf, thinkingOf, callsOf, member}: AnswerRoute, url: string): Chunk {
  const invalid = protocolError(url)
  if (!isObject(value)) throw invalid('a line is not a JSON object')
  const line = value as Line
  if (line.error !== undefined && line.error !== null)
    throw new SvcError('inference_failed', {url, reason: sentenceOf(line.error)})
  const {done} = line
  if (typeof done !== 'boolean') throw invalid('"done" in a line is not a boolean')
  const content = textOf(line)
  const text = content === undefined && done ? '' : content
  if (typeof text !== 'string') throw invalid(`"${member}" in a line is not a string`)
  const thoughts = thinkingOf?.(line)
  const thinking = typeof thoughts === 'string' ? thoughts : ''
  const calls = callsOf === undefined ? [] : callsOf(line)
  if (calls === undefined) throw invalid('the "message.tool_calls" of a line are malformed')
  if (!done) return {text, thinking, calls}
  const count = (name: string): number => {
    const tokens = line[name] ?? 0
    if (Number.isSafeInteger(tokens) && Number(tokens) >= 0) return Number(tokens)
    throw invalid(`"${name}" is not a token count`)
  }
  const end = {
    inputTokens: count('prompt_eval_count'),
    outputTokens: count('eval_count'),
    cutOff: line.done_reason === 'length',
  }
  return {text, thinking, calls, end}
}

/** The message of an error line, in the formats that servers use. */
function sentenceOf(error: unknown): string {
  const {message = error} = Object(error) as {message?: unknown}
  const text = typeof message === 'string' ? message : JSON.stringify(message)
  return text.split(/\r?\n/)[0]?.slice(0, 200).replace(/\.$/, '') || 'no reason reported'
}
