import {once} from 'node:events'
import {get, type IncomingMessage} from 'node:http'
import {timeoutMs} from './until.js'

export interface StreamEvent {
  id: number
  event: string
  data: {id: number; entity_id: string; change_kind: string; topic: string}
}

/** A client of server-sent events. Like a browser, it remembers the last id. */
export class EventStream {
  readonly events: StreamEvent[] = []
  /** The id of the last event, as a browser sends it. */
  lastEventId = ''
  readonly #response: IncomingMessage
  #rest = ''

  private constructor(response: IncomingMessage) {
    this.#response = response
    response.setEncoding('utf8')
    response.on('data', (text: string) => this.#read(text))
    response.on('error', () => undefined)
  }

  static async open(url: string, headers: Readonly<Record<string, string>> = {}): Promise<EventStream> {
    const [response] = (await once(get(url, {agent: false, headers}), 'response')) as [IncomingMessage]
    if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}`)
    return new EventStream(response)
  }

  get lastId(): number {
    return this.events.at(-1)?.id ?? 0
  }

  /** Waits for a number of events. */
  async received(count: number): Promise<void> {
    const until = Date.now() + timeoutMs
    while (this.events.length < count) {
      if (Date.now() > until) throw new Error(`${this.events.length} of ${count} events have come`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  /** Destroys the connection, like a client that dies. */
  close(): void {
    this.#response.destroy()
  }

  #read(text: string): void {
    const frames = (this.#rest + text).split('\n\n')
    this.#rest = frames.pop() ?? ''
    for (const frame of frames) {
      this.lastEventId = /^id: (.*)$/m.exec(frame)?.[1] ?? this.lastEventId
      const id = /^id: (\d+)(?:-[0-9a-f]{8})?$/m.exec(frame)?.[1]
      const event = /^event: (.*)$/m.exec(frame)?.[1] ?? 'message'
      const data = /^data: (.*)$/m.exec(frame)?.[1]
      if (id !== undefined && data !== undefined)
        this.events.push({id: Number(id), event, data: JSON.parse(data) as StreamEvent['data']})
    }
  }
}
