import {EventEmitter, once} from 'node:events'
import type {Readable, Writable} from 'node:stream'
import {
  deserializeMessage,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  type RequestId,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/server'
import {SvcError} from '../errors/index.js'
import {inexactNumber} from '../files/index.js'

const maxLineBytes = 10 << 20
/** Bytes kept from each end of a longer line: the request id is near one of them. */
const edgeBytes = 256
const lf = 10

/**
 * Exchanges messages over a pair of streams, one per line. Unlike the transport of the MCP library, it answers a line
 * that is too long with an error and continues with the next line.
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
    if (isJSONRPCResponse(message) && message.id !== undefined) this.#settle(message.id)
    await this.#write(serializeMessage(message))
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
      void this.#write(errorResponse(idOf(line), new SvcError('request_too_long', {limit: maxLineBytes})))
      return
    }
    try {
      const message = deserializeMessage(line.replace(/\r$/, ''))
      const fault = inexactNumber(line)
      if (fault !== undefined) {
        const error = new SvcError('request_unparsable', {reason: fault})
        if (isJSONRPCRequest(message)) void this.#write(errorResponse(message.id, error))
        // The call that waits for this answer fails.
        else if (isJSONRPCResponse(message) && message.id !== undefined)
          this.onmessage?.(JSON.parse(errorResponse(message.id, error)))
        else throw error
        return
      }
      this.#track(message)
      this.onmessage?.(message)
    } catch (error) {
      this.onerror?.(error as Error)
    }
  }

  /** A cancelled request has no response, and one to listen has none until the connection ends. */
  #track(message: JSONRPCMessage): void {
    if (isJSONRPCRequest(message) && message.method !== 'subscriptions/listen') this.#open.add(message.id)
    if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled')
      this.#settle(message.params?.requestId as RequestId)
  }

  #settle(id: RequestId): void {
    this.#open.delete(id)
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

function errorResponse(id: RequestId | undefined, {code, message, hint: remediation}: SvcError): string {
  const error = {code: -32600, message, data: {code, remediation}}
  return `${JSON.stringify({jsonrpc: '2.0', ...(id === undefined ? {} : {id}), error})}\n`
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
