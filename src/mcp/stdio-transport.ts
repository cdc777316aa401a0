import {EventEmitter, once} from 'node:events'
import type {Readable, Writable} from 'node:stream'
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  type RequestId,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/server'
import {type MessageRefusal, parseMessage} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import {logger} from '../log/index.js'
import {isRefusal, isResponse, readBatch, readMessage, refusalAnswer} from './messages.js'

const maxLineBytes = 10 << 20
/** Bytes kept from each end of a longer line: the request id is near one of them. */
const edgeBytes = 256
const lf = 10

/** A batch whose answers are sent together. */
interface OpenBatch {
  answers: object[]
  /** Number of its requests without an answer. */
  open: number
}

/**
 * Exchanges messages over a pair of streams, one per line. Unlike the transport of the MCP library, it accepts batches.
 * It answers lines that are too long or are not valid messages with an error, and continues with the next line.
 */
export class StdioTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void
  onerror?: (error: Error) => void
  onclose?: () => void
  readonly #input: Readable
  readonly #output: Writable
  /** Incomplete line; only its two ends if it is too long. */
  #pieces: Buffer[] = []
  #length = 0
  /** Ids of the requests that have no response yet. */
  readonly #open = new Set<RequestId>()
  /** Batches by the ids of their requests that have no response yet. */
  readonly #batches = new Map<RequestId, OpenBatch>()
  readonly #events = new EventEmitter<{settled: []}>()

  constructor(input: Readable, output: Writable) {
    this.#input = input
    this.#output = output
  }

  async start(): Promise<void> {
    this.#input.on('data', this.#receive)
    this.#input.on('error', this.#fail)
  }

  /** Resolves when the output stream accepts more data. */
  async send(message: JSONRPCMessage): Promise<void> {
    const id = isJSONRPCResponse(message) ? message.id : undefined
    const batch = id === undefined ? undefined : this.#batches.get(id)
    const written = batch === undefined ? this.#write(serializeMessage(message)) : this.#answerIn(batch, message)
    if (id !== undefined) this.#settle(id)
    await written
  }

  /** Resolves when all requests have been answered. */
  async answered(): Promise<void> {
    while (this.#open.size > 0) await once(this.#events, 'settled')
  }

  async close(): Promise<void> {
    this.#input.off('data', this.#receive)
    this.#input.off('error', this.#fail)
    this.#input.pause()
    this.#forget()
    this.onclose?.()
  }

  readonly #fail = (error: Error): void => this.onerror?.(error)

  readonly #receive = (chunk: Buffer): void => {
    let from = 0
    for (let end = chunk.indexOf(lf); end !== -1; end = chunk.indexOf(lf, from)) {
      this.#keep(chunk.subarray(from, end))
      this.#complete()
      from = end + 1
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from))
  }

  #keep(piece: Buffer): void {
    this.#length += piece.length
    this.#pieces.push(piece)
    if (this.#length <= maxLineBytes) return
    const line = Buffer.concat(this.#pieces)
    const tail = line.subarray(Math.max(edgeBytes, line.length - edgeBytes))
    this.#pieces = [Buffer.concat([line.subarray(0, edgeBytes), tail])]
  }

  #complete(): void {
    const line = Buffer.concat(this.#pieces).toString('utf8')
    const isTooLong = this.#length > maxLineBytes
    this.#forget()
    if (isTooLong) {
      const error = new SvcError('request_too_long', {limit: maxLineBytes})
      void this.#refuse({id: idOf(line) ?? null, error})
      return
    }
    if (line.trim() === '') return
    const {value, refusal} = parseMessage(line)
    if (refusal !== undefined) {
      // The call that waits for this answer fails.
      if (isResponse(value)) this.onmessage?.(refusalAnswer(refusal) as JSONRPCMessage)
      else void this.#refuse(refusal)
    } else if (Array.isArray(value)) this.#receiveBatch(value)
    else {
      const message = readMessage(value)
      if (isRefusal(message)) void this.#refuse(message)
      else this.#deliver(message)
    }
  }

  #receiveBatch(entries: readonly unknown[]): void {
    const read = readBatch(entries)
    if (isRefusal(read)) {
      void this.#refuse(read)
      return
    }
    const requests = read.messages.filter(isJSONRPCRequest)
    const batch = {answers: read.refusals.map(asAnswer), open: requests.length}
    for (const {id} of requests) this.#batches.set(id, batch)
    if (batch.open === 0) void this.#writeBatch(batch)
    for (const message of read.messages) this.#deliver(message)
  }

  #deliver(message: JSONRPCMessage): void {
    this.#track(message)
    this.onmessage?.(message)
  }

  async #answerIn(batch: OpenBatch, answer: object): Promise<void> {
    batch.answers.push(answer)
    if (--batch.open === 0) await this.#writeBatch(batch)
  }

  /** A batch of notifications has no answer. */
  async #writeBatch({answers}: OpenBatch): Promise<void> {
    if (answers.length > 0) await this.#write(`${JSON.stringify(answers)}\n`)
  }

  #refuse(refusal: MessageRefusal): Promise<void> {
    logger('mcp').warn({code: refusal.error.code}, `cannot handle message: ${refusal.error.message}`)
    return this.#write(`${JSON.stringify(asAnswer(refusal))}\n`)
  }

  /** A cancelled request has no response, and one to listen has none until the connection ends. */
  #track(message: JSONRPCMessage): void {
    if (isJSONRPCRequest(message) && message.method !== 'subscriptions/listen') this.#open.add(message.id)
    if (!isJSONRPCNotification(message) || message.method !== 'notifications/cancelled') return
    const id = message.params?.requestId as RequestId
    const batch = this.#batches.get(id)
    if (batch !== undefined && --batch.open === 0) void this.#writeBatch(batch)
    this.#settle(id)
  }

  #settle(id: RequestId): void {
    this.#open.delete(id)
    this.#batches.delete(id)
    this.#events.emit('settled')
  }

  #forget(): void {
    this.#pieces = []
    this.#length = 0
  }

  #write(line: string): Promise<void> {
    return new Promise((resolve) => {
      if (this.#output.write(line)) resolve()
      else this.#output.once('drain', resolve)
    })
  }
}

/** The schema of MCP has no null for an id that is not known. */
function asAnswer(refusal: MessageRefusal): object {
  const {id, ...answer} = refusalAnswer(refusal)
  return id === null ? answer : {id, ...answer}
}

const idAtHead = /^\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"]*"\s*,\s*)*"id"\s*:\s*("[^"\\]*"|-?\d+)\s*,/
const idAtTail = /,\s*"id"\s*:\s*("[^"\\]*"|-?\d+)\s*\}\s*$/

/** Finds the id of a request in the ends of its line, so that the client can match the error to its request. */
function idOf(ends: string): string | number | undefined {
  // A response of the client has an id too: that of a request from this server.
  if (!/"method"\s*:/.test(ends.slice(0, edgeBytes))) return undefined
  const [, id] = idAtHead.exec(ends) ?? idAtTail.exec(ends) ?? []
  return id === undefined ? undefined : JSON.parse(id)
}
