import {isErrorOf} from '../errors/index.js'
import {type ReplyStream, sseFrame} from '../net/index.js'
import {EventWatch, type OperationBase, unlessBusy} from '../operations/index.js'
import {onAbort} from '../process/index.js'
import type {EventRecord} from '../tasks/index.js'

/** Maximum number of open pages. */
const maxStreams = 32
/** Maximum number of events that are combined in a frame. */
const pageSize = 500
/** Interval at which the daemon is looked for while a page is open, ms: its end is not an event. */
const daemonMs = 1000
/** Interval of keep-alive comments, ms. */
const pingMs = 15_000

/** What has changed: the types of the events, and the ids of what they concern. */
export interface Changes {
  types: string[]
  task_ids: number[]
  run_ids: string[]
}

interface Subscriber {
  stream: ReplyStream
  /** Id of the last event that was sent. */
  since: number
  /** True while it receives a frame. */
  isBusy: boolean
  leave(): void
}

type Source = Pick<OperationBase, 'modules' | 'orchestrator'>

/**
 * Streams to open pages what has changed, so that they read it again. Of each page, only its position is kept: a slow one
 * receives the changes of a longer time in one frame, and one that comes back continues where it was.
 */
export class ChangeFeed {
  readonly #source: Source
  readonly #watch: EventWatch
  readonly #subscribers = new Set<Subscriber>()
  #ping: NodeJS.Timeout | undefined
  #look: NodeJS.Timeout | undefined
  /** Process of the daemon; 0: there is none. */
  #daemon = 0

  constructor(source: Source) {
    this.#source = source
    this.#watch = new EventWatch(source.modules, source.orchestrator)
  }

  get isFull(): boolean {
    return this.#subscribers.size >= maxStreams
  }

  /** @param since id of the last event that the page has received; undefined: it has received none */
  subscribe(stream: ReplyStream, since: number | undefined): void {
    const {modules, orchestrator} = this.#source
    const last = modules.tasks.lastEventId(orchestrator)
    const start = since === undefined ? last : modules.tasks.resumeEvents(orchestrator, since)
    const subscriber: Subscriber = {
      stream,
      since: start,
      isBusy: false,
      leave: () => undefined,
    }
    this.#subscribers.add(subscriber)
    this.#ping ??= setInterval(() => this.#pingAll(), pingMs).unref()
    if (this.#look === undefined) {
      this.#daemon = this.#daemonPid()
      this.#look = setInterval(() => this.#lookForDaemon(), daemonMs).unref()
    }
    onAbort(stream.gone, () => this.#remove(subscriber))
    // A page that has received events of a store that was replaced must read everything again.
    void stream.write(frame(start, 'opened', {isResumed: start === since}))
    subscriber.leave = this.#watch.subscribe(() => {
      this.#lookForDaemon()
      void this.#send(subscriber)
    })
    void this.#send(subscriber)
  }

  /** Looks for changes that this process has made. */
  refresh(): void {
    this.#watch.refresh()
  }

  /** Ends every stream. */
  close(): void {
    for (const subscriber of this.#subscribers) {
      this.#remove(subscriber)
      subscriber.stream.end()
    }
  }

  #remove(subscriber: Subscriber): void {
    if (!this.#subscribers.delete(subscriber)) return
    subscriber.leave()
    if (this.#subscribers.size > 0) return
    clearInterval(this.#ping)
    clearInterval(this.#look)
    this.#ping = undefined
    this.#look = undefined
  }

  #daemonPid(): number {
    const {modules, orchestrator} = this.#source
    return modules.tasks.runningDaemon(orchestrator)?.pid ?? 0
  }

  #lookForDaemon(): void {
    unlessBusy(() => {
      const pid = this.#daemonPid()
      if (pid === this.#daemon) return
      this.#daemon = pid
      for (const {stream, since} of this.#subscribers) void stream.write(frame(since, 'daemon', {}))
    })
  }

  async #send(subscriber: Subscriber): Promise<void> {
    if (subscriber.isBusy) return
    subscriber.isBusy = true
    try {
      while (this.#subscribers.has(subscriber) && subscriber.since < this.#watch.last) await this.#sendFrame(subscriber)
    } catch (error) {
      // The frame is sent with the next events.
      if (!isErrorOf(error, 'store_busy')) throw error
    } finally {
      subscriber.isBusy = false
    }
  }

  async #sendFrame(subscriber: Subscriber): Promise<void> {
    const {modules, orchestrator} = this.#source
    const {last} = this.#watch
    const events = modules.tasks.readEvents(orchestrator, {since: subscriber.since, limit: pageSize})
    subscriber.since = Math.max(events.at(-1)?.id ?? 0, events.length < pageSize ? last : 0)
    if (events.length > 0) await subscriber.stream.write(frame(subscriber.since, 'changes', changesOf(events)))
  }

  #pingAll(): void {
    for (const {stream, isBusy} of this.#subscribers) if (!isBusy) stream.ping()
  }
}

const frame = (id: number, event: string, data: object) => Buffer.from(sseFrame({id, event, data}))

function changesOf(events: readonly EventRecord[]): Changes {
  const kinds = events.map(({kind}) => kind as {type: string; task_id?: unknown; run_id?: unknown})
  const unique = <T>(values: readonly T[]) => [...new Set(values)]
  return {
    types: unique(kinds.map(({type}) => type)),
    task_ids: unique(kinds.map(({task_id: id}) => id).filter((id) => typeof id === 'number')),
    run_ids: unique(kinds.map(({run_id: id}) => id).filter((id) => typeof id === 'string')),
  }
}
