import {asOllamaError, type SvcError} from '../../errors/index.js'
import type {GenerateEvent} from '../../llm/index.js'
import {ndjsonStream} from '../../net/index.js'
import type {RequestDefaults} from '../defaults.js'
import type {Dialect, ReplyInfo, StreamWriter} from '../dialect.js'
import type {ModelService} from '../model-host.js'
import {CallCollector} from '../reply.js'
import {type OllamaRequest, readChat, readGenerate} from './request.js'
import * as response from './response.js'

/** What one of the two routes has of its own. */
interface Wire {
  read(body: unknown, defaults: RequestDefaults): OllamaRequest
  loaded(head: response.ReplyHead, reason: 'load' | 'unload'): object
  chunk(head: response.ReplyHead, text: response.ReplyText): object
  end(head: response.ReplyHead, end: response.ReplyEnd, parsed: OllamaRequest): object
}

const headOf = ({model}: Pick<ReplyInfo, 'model'>): response.ReplyHead => ({model, createdAt: timestamp()})

let last = {ms: 0, text: ''}

/** The current time. Its text is kept, because several tokens are written in a millisecond. */
function timestamp(): string {
  const ms = Date.now()
  if (ms !== last.ms) last = {ms, text: new Date(ms).toISOString()}
  return last.text
}

const endOf = ({started, loadMs}: ReplyInfo, summary: response.ReplyEnd['summary']): response.ReplyEnd => ({
  summary,
  loadMs,
  totalMs: performance.now() - started,
})

const dialectOf = (wire: Wire): Dialect<OllamaRequest> => ({
  read: wire.read,
  requestsOf: ({request, numCtx}) => [{...request, contextLength: numCtx}],
  withoutReply: (parsed, host, model) =>
    parsed.load ? loadOrUnload(host, parsed).then((reason) => wire.loaded(headOf({model}), reason)) : undefined,
  whole(parsed, info, [{summary, ...reply} = noReply()]) {
    return wire.end(headOf(info), {...endOf(info, summary), reply}, parsed)
  },
  writer: (parsed, info) => new LineWriter(wire, parsed, info),
  open: ndjsonStream,
})

function noReply(): never {
  throw new Error('A request of this API has one reply.')
}

async function loadOrUnload(host: ModelService, {keepAlive}: OllamaRequest): Promise<'load' | 'unload'> {
  if (keepAlive === 0) {
    await host.unload()
    return 'unload'
  }
  await host.load(keepAlive)
  return 'load'
}

/** Writes the lines of a reply. Calls are written when they are complete. */
class LineWriter implements StreamWriter {
  readonly #wire: Wire
  readonly #parsed: OllamaRequest
  readonly #info: ReplyInfo
  readonly #calls = new CallCollector()

  constructor(wire: Wire, parsed: OllamaRequest, info: ReplyInfo) {
    this.#wire = wire
    this.#parsed = parsed
    this.#info = info
  }

  write(event: GenerateEvent): Iterable<unknown> {
    if (event.type === 'done') return [this.#wire.end(headOf(this.#info), endOf(this.#info, event), this.#parsed)]
    const part = this.#partOf(event)
    return part === undefined ? [] : [this.#wire.chunk(headOf(this.#info), part)]
  }

  failed(error: SvcError): Iterable<unknown> {
    return [asOllamaError(error)]
  }

  /** Undefined if the event adds nothing. */
  #partOf(event: GenerateEvent): response.ReplyText | undefined {
    if (event.type === 'text') return event
    if (event.type === 'thinking') return {text: '', thinking: event.text}
    const call = event.type === 'call' || event.type === 'arguments' ? this.#calls.add(event) : undefined
    return call && {text: '', calls: [call]}
  }
}

/** `/api/chat` */
export const chat = dialectOf({
  read: readChat,
  loaded: response.chatLoaded,
  chunk: response.chatChunk,
  end: response.chatEnd,
})

/** `/api/generate` */
export const generate = dialectOf({
  read: readGenerate,
  loaded: response.generateLoaded,
  chunk: response.generateChunk,
  end: (head, end, {request}) => response.generateEnd(head, end, {raw: request.prompt.kind !== 'chat'}),
})
