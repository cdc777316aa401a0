import type {ProgressToken, Server} from '@modelcontextprotocol/server'
import {logger} from '../log/index.js'
import type {OperationBase} from '../operations/index.js'
import {progressOf} from './call-hooks.js'
import {legacyTask} from './handle-tasks.js'
import type {Watcher} from './resources/feed.js'
import type {ServerParts} from './server-parts.js'
import type {CallWatcher} from './tasks/background.js'
import {requireState} from './tasks/find.js'
import {hasEnded, type TaskState} from './tasks/state.js'

/**
 * Notifies a client of revision 2025-11-25 about the tasks that it has created: the progress of calls that run in the
 * background, and each new status. In revision 2026-07-28, clients would listen to tasks with `subscriptions/listen`, but
 * the library delivers only changes of lists and resources there.
 */
export class TaskNotifications {
  readonly #server: Server
  readonly #parts: ServerParts
  /** Last known message of each task that has not ended. */
  readonly #messages = new Map<string, string>()
  readonly #watcher: Watcher = {updated: (id) => this.#look(id), listed: () => undefined}

  constructor(server: Server, parts: ServerParts) {
    this.#server = server
    this.#parts = parts
  }

  /** The watcher of a call that runs in the background. @param token identifies the progress for the client */
  callWatcher(token: ProgressToken | undefined): CallWatcher {
    return {
      report: progressOf(
        () => token,
        (notification) => this.#send(notification),
      ),
      ended: (id) => this.#look(id),
    }
  }

  /** Follows a task that the client has just created. @param taskId of an orchestrator task */
  follow({id, message}: TaskState, taskId?: number): void {
    this.#messages.set(id, message)
    if (taskId === undefined) return
    this.#parts.feed
      .subscribe(this.#watcher, {kind: 'task', id: taskId}, id)
      .then(() => this.#look(id))
      .catch((error: unknown) => logger('mcp').warn({err: error}, 'cannot follow a task'))
  }

  close(): void {
    this.#parts.feed.leave(this.#watcher)
    this.#messages.clear()
  }

  #look(id: string): void {
    this.#parts.host
      .open()
      .then((base) => this.#update(base, id))
      .catch((error: unknown) => logger('mcp').warn({err: error}, 'cannot notify about a task'))
  }

  #update(base: OperationBase, id: string): void {
    const last = this.#messages.get(id)
    if (last === undefined) return
    const state = requireState(base, this.#parts.background, id)
    if (state.message !== last) this.#send({method: 'notifications/tasks/status', params: legacyTask(state)})
    this.#messages.set(id, state.message)
    if (!hasEnded(state)) return
    this.#messages.delete(id)
    this.#parts.feed.unsubscribe(this.#watcher, id)
  }

  #send(notification: Parameters<Server['notification']>[0]): void {
    void this.#server.notification(notification).catch(() => undefined)
  }
}
