import {SvcError} from '../errors/index.js'
import type {HttpClient} from '../net/index.js'
import {type NdjsonLimits, ndjsonValues} from './ndjson.js'

/** One call of `/api/generate`. */
export interface GenerationRequest {
  model: string
  system: string
  prompt: string
  temperature: number
  /** Most tokens of the answer. */
  maxTokens: number
}

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

const path = '/api/generate'

const faultOf = (url: string) => (reason: string) => new SvcError('inference_protocol', {url, reason})

/**
 * Has a text generated, and reads it as it is made. The connection ends with the answer, and at once when the signal
 * aborts.
 * @throws inference_protocol where the server does not keep to the wire, inference_failed where it says that it could
 *   not go on, what `HttpClient.stream` throws
 */
export async function generate(
  client: HttpClient,
  {model, system, prompt, temperature, maxTokens}: GenerationRequest,
  signal: AbortSignal,
  limits = defaultGenerationLimits,
): Promise<Generation> {
  const url = client.baseUrl + path
  const fault = faultOf(url)
  const left = new AbortController()
  try {
    const {status, headers, body} = await client.stream(path, {
      method: 'POST',
      body: {model, system, prompt, stream: true, options: {temperature, num_predict: maxTokens}},
      signal: AbortSignal.any([signal, left.signal]),
    })
    const strange = strangeReply(status, headers['content-type'])
    if (strange !== undefined) throw fault(strange)
    return await readAnswer(ndjsonValues(body, limits, fault), url, limits.answerLength)
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

async function readAnswer(values: AsyncIterable<unknown>, url: string, mostCharacters: number): Promise<Generation> {
  const fault = faultOf(url)
  const texts: string[] = []
  let length = 0
  for await (const value of values) {
    const chunk = readChunk(value, url)
    length += chunk.text.length
    if (length > mostCharacters) throw fault(`its answer is longer than ${mostCharacters} characters`)
    texts.push(chunk.text)
    if (chunk.end !== undefined) return {text: texts.join(''), ...chunk.end}
  }
  throw fault('its answer breaks off before the end')
}

interface Chunk {
  text: string
  /** Of the last one. */
  end?: Omit<Generation, 'text'>
}

function readChunk(value: unknown, url: string): Chunk {
  const fault = faultOf(url)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw fault('a line is no JSON object')
  const line = value as Readonly<Record<string, unknown>>
  if (line.error !== undefined) throw new SvcError('inference_failed', {url, reason: sentenceOf(line.error)})
  const {done, response: text = done === true ? '' : undefined} = line
  if (typeof done !== 'boolean') throw fault('"done" of a line is neither true nor false')
  if (typeof text !== 'string') throw fault('"response" of a line is no text')
  if (!done) return {text}
  const count = (name: string): number => {
    const {[name]: tokens = 0} = line
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
