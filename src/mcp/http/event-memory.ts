import type {EventStore, JSONRPCMessage} from '@modelcontextprotocol/server'

interface StoredEvent {
  id: number
  stream: string
  message: JSONRPCMessage
  bytes: number
}

/** Recent messages of a session, replayed to a client that reconnects. */
export class EventMemory implements EventStore {
  readonly #limits: {count: number; bytes: number}
  readonly #events: StoredEvent[] = []
  #bytes = 0
  #last = 0

  constructor(limits = {count: 1000, bytes: 4 << 20}) {
    this.#limits = limits
  }

  async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    const bytes = JSON.stringify(message).length
    this.#events.push({id: ++this.#last, stream, message, bytes})
    this.#bytes += bytes
    while (this.#events.length > this.#limits.count || (this.#bytes > this.#limits.bytes && this.#events.length > 1))
      this.#bytes -= this.#events.shift()?.bytes ?? 0
    return `${stream} ${this.#last}`
  }

  /** Event ids contain the stream id, so the stream of a discarded event is still known. */
  async getStreamIdForEventId(eventId: string): Promise<string | undefined> {
    return /^(\S+) \d+$/.exec(eventId)?.[1]
  }

  async replayEventsAfter(
    lastEventId: string,
    {send}: {send: (eventId: string, message: JSONRPCMessage) => Promise<void>},
  ): Promise<string> {
    const [stream = '', number = '0'] = lastEventId.split(' ')
    // An event without a message only marks the start of a stream.
    for (const {id, stream: of, message} of [...this.#events])
      if (of === stream && id > Number(number) && 'jsonrpc' in message) await send(`${of} ${id}`, message)
    return stream
  }
}
