import {SvcError} from '../errors/index.js'
import type {HttpClient} from '../net/index.js'
import {type NdjsonLimits, ndjsonValues} from './ndjson.js'

export interface Generation {
  text: string
  /** As the server counts them; 0 where it does not. */
  inputTokens: number
  outputTokens: number
  /** Whether the answer was cut off at the most tokens. */
  cutOff: boolean
}

export interface GenerationLimits extends NdjsonLimits {
  /** Longest answer, characters. */
  answerLength: number
}

/** The last line may repeat the tokens of the whole context as numbers. */
export const defaultGenerationLimits: GenerationLimits = {
  lineBytes: 4 << 20,
  totalBytes: 256 << 20,
  answerLength: 1 << 20,
}

type Line = Readonly<Record<string, unknown>>

/** A route that answers with lines of JSON, and where a line of it has its piece of the text. */
export interface AnswerRoute {
  path: string
  /** As an error names the place. */
  member: string
  textOf(line: Line): unknown
}

export interface Reading {
  signal: AbortSignal
  limits: GenerationLimits
  /** Told every piece of the text as it comes. */
  onDelta?: ((text: string) => void) | undefined
}

const faultOf = (url: string) => (reason: string) => new SvcError('inference_protocol', {url, reason})

/**
 * Sends a request and reads the answer as it is made. The connection ends with the answer, and at once when the signal
 * aborts.
 * @throws inference_protocol where the server does not keep to the wire, inference_failed where it says that it could
 *   not go on, what `HttpClient.stream` throws
 */
export async function streamedAnswer(
  client: HttpClient,
  route: AnswerRoute,
  body: object,
  {signal, limits, onDelta}: Reading,
): Promise<Generation> {
  const url = client.baseUrl + route.path
  const fault = faultOf(url)
  const left = new AbortController()
  try {
    const {
      status,
      headers,
      body: bytes,
    } = await client.stream(route.path, {method: 'POST', body, signal: AbortSignal.any([signal, left.signal])})
    const strange = strangeReply(status, headers['content-type'])
    if (strange !== undefined) throw fault(strange)
    return await readAnswer(ndjsonValues(bytes, limits, fault), {route, url, most: limits.answerLength, onDelta})
  } finally {
    // Whatever has not been read will not be: the server need not go on.
    left.abort()
  }
}

/** What is wrong with a reply before its body is looked at; the client has thrown for a status from 400. */
function strangeReply(status: number, contentType: string | string[] | undefined): string | undefined {
  if (status !== 200) return `it answers with status ${status}`
  return String(contentType).startsWith('text/html') ? 'it answers with a web page' : undefined
}

interface Answering {
  route: AnswerRoute
  url: string
  /** Characters. */
  most: number
  onDelta: Reading['onDelta']
}

async function readAnswer(values: AsyncIterable<unknown>, {route, url, most, onDelta}: Answering): Promise<Generation> {
  const fault = faultOf(url)
  const texts: string[] = []
  let length = 0
  for await (const value of values) {
    const chunk = readChunk(value, route, url)
    length += chunk.text.length
    if (length > most) throw fault(`its answer is longer than ${most} characters`)
    if (chunk.text !== '') {
      texts.push(chunk.text)
      onDelta?.(chunk.text)
    }
    if (chunk.end !== undefined) return {text: texts.join(''), ...chunk.end}
  }
  throw fault('its answer breaks off before the end')
}

interface Chunk {
  text: string
  end?: Omit<Generation, 'text'>
}

function readChunk(value: unknown, {textOf, member}: AnswerRoute, url: string): Chunk {
  const fault = faultOf(url)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw fault('a line is no JSON object')
  const line = value as Line
  if (line.error !== undefined && line.error !== null)
    throw new SvcError('inference_failed', {url, reason: sentenceOf(line.error)})
  const {done} = line
  if (typeof done !== 'boolean') throw fault('"done" of a line is neither true nor false')
  const given = textOf(line)
  const text = given === undefined && done ? '' : given
  if (typeof text !== 'string') throw fault(`"${member}" of a line is no text`)
  if (!done) return {text}
  const count = (name: string): number => {
    const tokens = line[name] ?? 0
    if (Number.isSafeInteger(tokens) && Number(tokens) >= 0) return Number(tokens)
    throw fault(`"${name}" is no count of tokens`)
  }
  const end = {
    inputTokens: count('prompt_eval_count'),
    outputTokens: count('eval_count'),
    cutOff: line.done_reason === 'length',
  }
  return {text, end}
}

/** The clause of an error line, in the shapes that servers use. */
function sentenceOf(error: unknown): string {
  const {message = error} = Object(error) as {message?: unknown}
  const text = typeof message === 'string' ? message : JSON.stringify(message)
  return text.split(/\r?\n/)[0]?.slice(0, 200).replace(/\.$/, '') || 'it does not say why'
}
