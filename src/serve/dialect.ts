import type {FastifyReply} from 'fastify'
import type {SvcError} from '../errors/index.js'
import type {GenerateEvent, GenerateRequest} from '../llm/index.js'
import type {ReplyStream} from '../net/index.js'
import type {Ability} from './abilities.js'
import type {RequestDefaults} from './defaults.js'
import type {KeepAlive} from './keep-alive.js'
import type {ModelService} from './model-host.js'
import type {CollectedReply} from './reply.js'

/** What the requests of all dialects have. */
export interface DialectRequest {
  /** As in the request; default: the served model. */
  model?: string
  stream: boolean
  keepAlive?: KeepAlive
  /** Paths of unknown fields, for the log. */
  unknown: readonly string[]
  /** What the model must be able to do. */
  requires?: readonly Ability[]
  /** Headers of the response. */
  headers?: Readonly<Record<string, string>>
}

/** What a response states about its making. */
export interface ReplyInfo {
  /** As in the request; default: the served model. */
  model: string
  /** The receipt without the request: a seed reproduces a reply only with the same fingerprint. */
  fingerprint: string
  /** Arrival of the request, as in `performance.now`. */
  started: number
  /** Time spent loading the model, ms. */
  loadMs: number
}

/** Turns the events of one or several replies into the values of a stream. */
export interface StreamWriter {
  /** @param index of the reply */
  write(event: GenerateEvent, index: number): Iterable<unknown>
  /** The last values of a stream that fails. */
  failed(error: SvcError): Iterable<unknown>
}

/** The requests and responses of a route that generates text. */
export interface Dialect<R extends DialectRequest> {
  /** @throws bad_request, unsupported_value, body_missing */
  read(body: unknown, defaults: RequestDefaults): R
  /** What is to be generated: one request per reply. */
  requestsOf(request: R): readonly [GenerateRequest, ...GenerateRequest[]]
  /**
   * The response to a request that generates nothing; undefined if it does.
   * @param model as in the request; default: the served model
   */
  withoutReply?(request: R, host: ModelService, model: string): Promise<object> | undefined
  /** The response without a stream. */
  whole(request: R, info: ReplyInfo, replies: readonly CollectedReply[]): object
  /** @param count number of replies */
  writer(request: R, info: ReplyInfo, count: number): StreamWriter
  open(reply: FastifyReply): ReplyStream
}
