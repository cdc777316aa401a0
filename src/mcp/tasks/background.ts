import {randomUUID} from 'node:crypto'
import {SvcError} from '../../errors/index.js'
import {logger} from '../../log/index.js'
import type {OperationBase} from '../../operations/index.js'
import {isAlive, processStart} from '../../process/index.js'
import {callTool} from '../call-tool.js'
import {type Envelope, failure} from '../envelope.js'
import type {ToolRegistry} from '../registry.js'
import type {CallHooks, ToolHost} from '../tool.js'
import {type CallRow, callRow, callRows, endCall, insertCall, maxCalls, takeOverCall} from './call-rows.js'
import type {TaskState} from './state.js'

/** Time for which a call is kept if the client requests none, and the limits of what it can request, ms. */
const defaultTtlMs = 24 * 3_600_000
const minTtlMs = 60_000
const maxTtlMs = 7 * 24 * 3_600_000

/** Number of times that a call is started: one whose process keeps ending may be the reason for that. */
const maxAttempts = 3

/** This process, with its start time: pids are reused. */
const owner = JSON.stringify({pid: process.pid, start: processStart(process.pid) ?? ''})

function isOwnerAlive(recorded: string): boolean {
  const {pid, start} = JSON.parse(recorded) as {pid: number; start: string}
  return isAlive(pid, start)
}

export interface BackgroundCall {
  tool: string
  arguments: Readonly<Record<string, unknown>>
  /** Requested time to keep the call, ms. */
  ttlMs: number | undefined
}

/** Observes a call until it has ended or this process ends. */
export interface CallWatcher {
  report: CallHooks['report']
  /** Called after the outcome of the call is stored. */
  ended(id: string): void
}

const unwatched: CallWatcher = {report: () => undefined, ended: () => undefined}

/** Runs tool calls that continue after their response. The rows in the store survive this process. */
export class BackgroundCalls {
  readonly #registry: ToolRegistry
  readonly #host: ToolHost
  /** Calls of this process that are running. */
  readonly #running = new Map<string, AbortController>()
  #isClosed = false

  constructor(registry: ToolRegistry, host: ToolHost) {
    this.#registry = registry
    this.#host = host
  }

  /** Starts a call. It is stored before this returns. @throws mcp_tasks_full */
  start(
    {orchestrator}: OperationBase,
    {tool, arguments: args, ttlMs = defaultTtlMs}: BackgroundCall,
    watcher: CallWatcher = unwatched,
  ): string {
    const id = randomUUID()
    const ttl_ms = Math.min(Math.max(Math.ceil(ttlMs), minTtlMs), maxTtlMs)
    if (!insertCall(orchestrator, {id, tool, arguments: JSON.stringify(args), owner, ttl_ms}))
      throw new SvcError('mcp_tasks_full', {limit: maxCalls})
    this.#run(orchestrator, {id, tool, args}, watcher)
    return id
  }

  /** The call with this id; undefined if it does not exist. A call whose process has ended runs again. */
  find({orchestrator}: OperationBase, id: string): TaskState | undefined {
    const row = callRow(orchestrator, id)
    if (row?.status !== 'working' || isOwnerAlive(row.owner)) return row && toState(row)
    this.#restart(orchestrator, row)
    const current = callRow(orchestrator, id)
    return current && toState(current)
  }

  /** A page of the calls, newest first. */
  list({orchestrator}: OperationBase, page: {limit: number; offset: number}): TaskState[] {
    return callRows(orchestrator, page).map(toState)
  }

  cancel({orchestrator}: OperationBase, id: string): void {
    const row = callRow(orchestrator, id)
    if (row === undefined) return
    endCall(orchestrator, row, {
      status: 'cancelled',
      outcome: failure({error: new SvcError('mcp_task_cancelled', {id})}),
    })
    this.#running.get(id)?.abort()
  }

  /** Stops all calls of this process. They run again when a server is asked for them. */
  close(): void {
    this.#isClosed = true
    for (const running of this.#running.values()) running.abort()
  }

  #restart(place: OperationBase['orchestrator'], row: CallRow): void {
    const {id, tool, attempts} = row
    if (attempts >= maxAttempts) {
      const outcome = failure({error: new SvcError('mcp_call_lost', {tool, attempts})})
      endCall(place, row, {status: 'failed', outcome})
    } else if (takeOverCall(place, row, owner)) this.#run(place, {id, tool, args: JSON.parse(row.arguments)})
  }

  #run(
    place: OperationBase['orchestrator'],
    {id, tool, args}: {id: string; tool: string; args: Readonly<Record<string, unknown>>},
    {report, ended}: CallWatcher = unwatched,
  ): void {
    const running = new AbortController()
    this.#running.set(id, running)
    const hooks = {signal: running.signal, report, notice: () => undefined, ask: undefined}
    void callTool(this.#registry, tool, args, this.#host, hooks)
      .then(({envelope: outcome}) => {
        this.#running.delete(id)
        if (this.#isClosed) return
        endCall(place, {id, owner}, {status: outcome.success ? 'completed' : 'failed', outcome})
        ended(id)
      })
      .catch((error: unknown) => logger('mcp').warn({err: error, tool}, 'cannot store the result of a call'))
  }
}

function toState({id, tool, status, outcome, created_at_ms, updated_at_ms, ttl_ms}: CallRow): TaskState {
  return {
    id,
    status,
    message: `${tool} is ${status}.`,
    createdMs: created_at_ms,
    updatedMs: updated_at_ms,
    ttlMs: ttl_ms,
    ...(outcome === null ? {} : {outcome: JSON.parse(outcome) as Envelope}),
  }
}
