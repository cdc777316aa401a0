import type {FastifyRequest} from 'fastify'
import {SvcError} from '../errors/index.js'
import {
  type Application,
  allChangesAfter,
  type Change,
  type Connection,
  changesAfter,
  connect,
  dataVersion,
  eventId,
  lastChange,
  type Received,
  readEventId,
  resumePoint,
} from '../lang/index.js'
import {eventStream, type HttpApp, type ReplyStream, sseFrame} from '../net/index.js'
import {onAbort} from '../process/index.js'

/** Interval of polling for commits of other processes, ms. */
const pollMs = 50
/**
 * Delay per subscriber before commits of this process are sent together, ms: with more subscribers, a round of writes
 * costs more and should include more changes.
 */
const gatherMs = 0.2
/** Interval of comments that keep the connection open, ms. */
const heartbeatMs = 15_000
const pageSize = 1000

interface Subscriber {
  topic: string
  stream: ReplyStream
  /** The last change that was sent. */
  cursor: number
  /** True while the subscriber has unread data; the feed then skips it. */
  busy: boolean
  /** True if changes were skipped and must be read from the log. */
  missed: boolean
}

/**
 * Sends new changes, from any process, to the subscribers: each change once, in order, without gaps. One
 * reader serves all subscribers; a slow subscriber does not delay others, and catches up from the log.
 */
export class LiveFeed {
  readonly #connection: Connection
  readonly #owns: boolean
  readonly #subscribers = new Set<Subscriber>()
  #cursor = 0
  #version = 0
  #poll: NodeJS.Timeout | undefined
  #heartbeat: NodeJS.Timeout | undefined
  #gather: NodeJS.Timeout | undefined

  private constructor(connection: Connection, owns: boolean) {
    this.#connection = connection
    this.#owns = owns
  }

  static async start(application: Application): Promise<LiveFeed> {
    const inMemory = application.path === ':memory:'
    const connection = inMemory ? application.writer : await connect(application.program, application.path, true)
    const feed = new LiveFeed(connection, !inMemory)
    application.onCommit = () => feed.#soon()
    return feed
  }

  /**
   * Sends a subscriber every change after a given one, or all changes from now on. If the database was replaced or the
   * log was pruned since, a reset event precedes the new changes.
   */
  subscribe(topic: string, after: Received | undefined, stream: ReplyStream): void {
    if (this.#subscribers.size === 0) this.#wake()
    const subscriber: Subscriber = {
      topic,
      stream,
      cursor: lastChange(this.#connection),
      busy: false,
      missed: false,
    }
    // The response headers are sent with the first byte, so the client sees that the stream is open.
    stream.ping()
    if (after !== undefined) {
      const {after: cursor, isReset} = resumePoint(this.#connection, after)
      subscriber.cursor = cursor
      if (isReset) void stream.write(sseFrame({id: cursor, event: 'reset', data: {id: cursor, topic}}))
    }
    this.#subscribers.add(subscriber)
    onAbort(stream.gone, () => this.#leave(subscriber))
    void this.#catchUp(subscriber)
  }

  /** Ends every stream; clients reconnect with their last event id. */
  endAll(): void {
    this.#sleep()
    for (const {stream} of this.#subscribers) stream.end()
    this.#subscribers.clear()
  }

  close(): void {
    this.endAll()
    if (this.#owns) this.#connection.close()
  }

  #wake(): void {
    this.#cursor = lastChange(this.#connection)
    this.#version = dataVersion(this.#connection)
    this.#poll = setInterval(() => this.#look(), pollMs).unref()
    this.#heartbeat = setInterval(() => {
      for (const {stream} of this.#subscribers) stream.ping()
    }, heartbeatMs).unref()
  }

  #sleep(): void {
    clearInterval(this.#poll)
    clearInterval(this.#heartbeat)
    clearTimeout(this.#gather)
    this.#gather = undefined
  }

  #leave(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber)
    if (this.#subscribers.size === 0) this.#sleep()
  }

  #soon(): void {
    if (this.#subscribers.size === 0 || this.#gather !== undefined) return
    const delay = Math.min(pollMs, 1 + gatherMs * this.#subscribers.size)
    this.#gather = setTimeout(() => {
      this.#gather = undefined
      this.#pump()
    }, delay).unref()
  }

  #look(): void {
    const version = dataVersion(this.#connection)
    if (version === this.#version) return
    this.#version = version
    this.#pump()
  }

  #pump(): void {
    for (;;) {
      const changes = allChangesAfter(this.#connection, this.#cursor, pageSize)
      const last = changes.at(-1)
      if (last === undefined) return
      this.#cursor = last.id
      const byTopic = groupByTopic(changes)
      // Formatted once per topic for all its subscribers.
      const frames = new Map([...byTopic].map(([topic, rows]) => [topic, framesOf(rows)]))
      for (const subscriber of this.#subscribers) {
        const rows = byTopic.get(subscriber.topic)
        if (rows === undefined) continue
        if (subscriber.busy) subscriber.missed = true
        else this.#send(subscriber, rows, frames.get(subscriber.topic) ?? noFrames)
      }
      if (changes.length < pageSize) return
    }
  }

  #send(subscriber: Subscriber, rows: readonly Change[], frames: Buffer): void {
    const {cursor, stream} = subscriber
    const isWhole = (rows[0]?.id ?? 0) > cursor
    const unseen = isWhole ? frames : framesOf(rows.filter(({id}) => id > cursor))
    subscriber.cursor = Math.max(cursor, rows.at(-1)?.id ?? 0)
    if (unseen.length === 0) return
    subscriber.busy = true
    void stream.write(unseen).then(() => this.#ready(subscriber))
  }

  #ready(subscriber: Subscriber): void {
    subscriber.busy = false
    if (subscriber.missed) void this.#catchUp(subscriber)
  }

  /** Reads the log from the subscriber's cursor, page by page, to the end; then the feed continues. */
  async #catchUp(subscriber: Subscriber): Promise<void> {
    const {topic, stream} = subscriber
    subscriber.busy = true
    while (this.#subscribers.has(subscriber)) {
      subscriber.missed = false
      const rows = changesAfter(this.#connection, topic, subscriber.cursor, pageSize)
      const last = rows.at(-1)
      if (last === undefined) break
      subscriber.cursor = last.id
      await stream.write(framesOf(rows))
    }
    subscriber.busy = false
  }
}

function groupByTopic(changes: readonly Change[]): Map<string, Change[]> {
  const groups = new Map<string, Change[]>()
  for (const change of changes) {
    const group = groups.get(change.topic)
    if (group === undefined) groups.set(change.topic, [change])
    else group.push(change)
  }
  return groups
}

const noFrames = Buffer.alloc(0)

const framesOf = (changes: readonly Change[]): Buffer =>
  Buffer.from(changes.map((change) => sseFrame({id: eventId(change), event: 'change', data: change})).join(''))

/** `GET /api/live/<topic>`: resumable by `Last-Event-ID`, or by `after_id`. */
export function liveRoute(app: HttpApp, application: Application, feed: LiveFeed): void {
  const topics = new Set([...application.topics.values()].flat())
  app.get('/api/live/:topic', async (request, reply) => {
    const {topic} = request.params as {topic: string}
    const {method, url} = request
    if (!topics.has(topic)) throw new SvcError('route_unknown', {method, path: url.split('?')[0] ?? url})
    const after = lastReceived(request)
    if (method === 'HEAD') return reply.type('text/event-stream').send()
    feed.subscribe(topic, after, eventStream(reply))
    return reply
  })
}

function lastReceived({headers, query}: FastifyRequest): Received | undefined {
  const unknown = Object.keys(query as object).find((name) => name !== 'after_id')
  // A misspelled name would lose the changes that it asks for.
  if (unknown !== undefined)
    throw new SvcError('bad_request', {reason: `unknown parameter ${unknown}; use after_id`, param: unknown})
  const value = headers['last-event-id'] ?? (query as Record<string, unknown>).after_id
  if (value === undefined) return undefined
  const received = typeof value === 'string' ? readEventId(value) : undefined
  if (received === undefined)
    throw new SvcError('bad_request', {reason: 'after_id must be the id of an event', param: 'after_id'})
  return received
}
