import type {EventStore} from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type {JSONRPCMessage} from '@modelcontextprotocol/sdk/types.js'

interface Kept {
  id: number
  stream: string
  message: JSONRPCMessage
  bytes: number
}

/** The latest messages of a session, so that a client whose connection broke gets what it missed. */
export class EventMemory implements EventStore {
  readonly #limits: {count: number; bytes: number}
  readonly #kept: Kept[] = []
  #bytes = 0
  #last = 0

  constructor(limits = {count: 1000, bytes: 4 << 20}) {
    this.#limits = limits
  }

  async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    const bytes = JSON.stringify(message).length
    this.#kept.push({id: ++this.#last, stream, message, bytes})
    this.#bytes += bytes
    while (this.#kept.length > this.#limits.count || (this.#bytes > this.#limits.bytes && this.#kept.length > 1))
      this.#bytes -= this.#kept.shift()?.bytes ?? 0
    return `${stream} ${this.#last}`
  }

  /** An id says itself which stream it is of, also when the event is forgotten. */
  async getStreamIdForEventId(eventId: string): Promise<string | undefined> {
    return /^(\S+) \d+$/.exec(eventId)?.[1]
  }

  async replayEventsAfter(
    lastEventId: string,
    {send}: {send: (eventId: string, message: JSONRPCMessage) => Promise<void>},
  ): Promise<string> {
    const [stream = '', number = '0'] = lastEventId.split(' ')
    // An event without a message only marks where a stream began.
    for (const {id, stream: of, message} of [...this.#kept])
      if (of === stream && id > Number(number) && 'jsonrpc' in message) await send(`${of} ${id}`, message)
    return stream
  }
}
