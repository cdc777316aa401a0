import {logger} from '../../log/index.js'
import type {OperationBase} from '../../operations/index.js'
import type {EventRecord} from '../../tasks/index.js'
import {stateOf} from './conversations.js'
import {type ResourceName, tasksUri, taskUri, transcriptUri, uriOf} from './uri.js'

/** Between two looks at the store, ms. */
const pollMs = 150

/** Who wants to know of what. */
export interface Watcher {
  /** A resource that it subscribed to has changed. */
  updated(uri: string): void
  /** There are tasks that were not there before. */
  listed(): void
}

interface Subscription {
  name: ResourceName
  /** As the client wrote it. */
  given: string
  watcher: Watcher
  chat?: Chat
}

/** A conversation that is looked at: what it is, and what it was when it was last told. */
interface Chat {
  state(): string | undefined
  lastState: string | undefined
}

/** Tells subscribers of changes, whoever made them. One poller of the store serves all, and only while there are any. */
export class ResourceFeed {
  readonly #open: () => Promise<OperationBase>
  readonly #subscriptions = new Map<string, Subscription>()
  readonly #ids = new WeakMap<Watcher, number>()
  #watchers = 0
  #since = 0
  #timer: NodeJS.Timeout | undefined

  constructor(open: () => Promise<OperationBase>) {
    this.#open = open
  }

  /** Whether it looks at the store. */
  get runs(): boolean {
    return this.#timer !== undefined
  }

  async subscribe(watcher: Watcher, name: ResourceName, given: string): Promise<void> {
    const base = await this.#open()
    const state = name.kind === 'chat' ? await stateOf(base, name.sessionId) : undefined
    const chat = state === undefined ? {} : {chat: {state, lastState: state()}}
    if (this.#timer === undefined) {
      this.#since = base.modules.tasks.lastEventId(base.orchestrator)
      this.#timer = setInterval(() => this.#look(base), pollMs)
    }
    this.#subscriptions.set(this.#key(watcher, given), {name, given, watcher, ...chat})
  }

  unsubscribe(watcher: Watcher, given: string): void {
    this.#subscriptions.delete(this.#key(watcher, given))
    this.#rest()
  }

  /** Ends all that somebody subscribed to. */
  leave(watcher: Watcher): void {
    for (const [key, subscription] of this.#subscriptions)
      if (subscription.watcher === watcher) this.#subscriptions.delete(key)
    this.#rest()
  }

  close(): void {
    this.#subscriptions.clear()
    this.#rest()
  }

  #rest(): void {
    if (this.#subscriptions.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #key(watcher: Watcher, given: string): string {
    let id = this.#ids.get(watcher)
    if (id === undefined) {
      id = ++this.#watchers
      this.#ids.set(watcher, id)
    }
    return `${id} ${given}`
  }

  /** A store that cannot be read now is read again next time. */
  #look(base: OperationBase): void {
    try {
      const events = this.#newEvents(base)
      const changed = new Set(events.flatMap(changedBy))
      for (const subscription of this.#subscriptions.values())
        if (hasChanged(subscription, changed)) subscription.watcher.updated(subscription.given)
      if (!events.some(({kind}) => kind.type === 'task_submitted')) return
      for (const watcher of new Set([...this.#subscriptions.values()].map((each) => each.watcher))) watcher.listed()
    } catch (error) {
      logger('mcp').warn({err: error}, 'the store cannot be read for subscribers')
    }
  }

  #newEvents({modules, orchestrator}: OperationBase): EventRecord[] {
    if (modules.tasks.lastEventId(orchestrator) <= this.#since) return []
    const events = modules.tasks.readEvents(orchestrator, {since: this.#since})
    this.#since = events.at(-1)?.id ?? modules.tasks.lastEventId(orchestrator)
    return events
  }
}

function hasChanged({name, chat}: Subscription, changed: ReadonlySet<string>): boolean {
  if (chat === undefined) return changed.has(uriOf(name))
  const state = chat.state()
  if (state === chat.lastState) return false
  chat.lastState = state
  return true
}

function changedBy({kind}: EventRecord): string[] {
  const {task_id: id} = kind as {task_id?: number | null}
  return typeof id === 'number' ? [tasksUri, taskUri(id), transcriptUri(id)] : []
}
