import {logger} from '../../log/index.js'
import type {OperationBase} from '../../operations/index.js'
import type {EventRecord} from '../../tasks/index.js'
import {stateOf} from './conversations.js'
import {type ResourceName, tasksUri, taskUri, transcriptUri, uriOf} from './uri.js'

/** Poll interval of the store, ms. */
const pollMs = 150

/** Receiver of change notifications. */
export interface Watcher {
  /** Called when a subscribed resource changes. */
  updated(uri: string): void
  /** Called when tasks are added to the resource list. */
  listed(): void
}

interface Subscription {
  name: ResourceName
  /** URI exactly as the client wrote it. */
  uri: string
  watcher: Watcher
  chat?: Chat
}

/** Polled conversation, and its state at the last notification. */
interface Chat {
  state(): string | undefined
  lastState: string | undefined
}

/**
 * Notifies subscribers of changes, including those made by other processes. A single timer polls the store for all
 * subscriptions, and only while there are any.
 */
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

  /** True while it polls the store. */
  get runs(): boolean {
    return this.#timer !== undefined
  }

  async subscribe(watcher: Watcher, name: ResourceName, uri: string): Promise<void> {
    const base = await this.#open()
    const state = name.kind === 'chat' ? await stateOf(base, name.sessionId) : undefined
    const chat = state === undefined ? {} : {chat: {state, lastState: state()}}
    if (this.#timer === undefined) {
      this.#since = base.modules.tasks.lastEventId(base.orchestrator)
      this.#timer = setInterval(() => this.#poll(base), pollMs)
    }
    this.#subscriptions.set(this.#key(watcher, uri), {name, uri, watcher, ...chat})
  }

  unsubscribe(watcher: Watcher, uri: string): void {
    this.#subscriptions.delete(this.#key(watcher, uri))
    this.#stopIfUnused()
  }

  /** Removes all subscriptions of a watcher. */
  leave(watcher: Watcher): void {
    for (const [key, subscription] of this.#subscriptions)
      if (subscription.watcher === watcher) this.#subscriptions.delete(key)
    this.#stopIfUnused()
  }

  close(): void {
    this.#subscriptions.clear()
    this.#stopIfUnused()
  }

  #stopIfUnused(): void {
    if (this.#subscriptions.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #key(watcher: Watcher, uri: string): string {
    let id = this.#ids.get(watcher)
    if (id === undefined) {
      id = ++this.#watchers
      this.#ids.set(watcher, id)
    }
    return `${id} ${uri}`
  }

  /** If the store cannot be read, the next poll tries again. */
  #poll(base: OperationBase): void {
    try {
      const events = this.#newEvents(base)
      const changed = new Set(events.flatMap(changedBy))
      for (const subscription of this.#subscriptions.values())
        if (hasChanged(subscription, changed)) subscription.watcher.updated(subscription.uri)
      if (!events.some(({kind}) => kind.type === 'task_submitted')) return
      for (const watcher of new Set([...this.#subscriptions.values()].map((each) => each.watcher))) watcher.listed()
    } catch (error) {
      logger('mcp').warn({err: error}, 'cannot poll the store for resource subscriptions')
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
