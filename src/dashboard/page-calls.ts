import {SvcError} from '../errors/index.js'
import {type Call, createCall, operationNamed} from '../operations/index.js'

/** The operations that the page calls. It can call no others. */
const names = [
  'status',
  'list_tasks',
  'get_task',
  'related_tasks',
  'list_events',
  'list_agents',
  'submit_task',
  'approve_task',
  'cancel_task',
  'retry_task',
  'reorder_task',
  'doubt_task',
  'resolve_doubt',
  'list_workflow_runs',
  'workflow_status',
  'workflow_journal',
  'list_schedules',
  'workflow_signal',
  'resume_workflow_run',
  'cancel_workflow_run',
  'list_plans',
  'plan_status',
  'execute_plan',
  'pending_questions',
  'answer_question',
  'pause_agent',
  'resume_agent',
  'emergency_stop',
  'start_orchestrator',
  'list_leases',
  'revoke_lease',
  'list_loaded_models',
  'unload_model',
  'describe_database',
  'query_database',
  'change_database',
  'ask_help',
] as const

/** An operation as the page knows it. */
export interface PageCall {
  method: string
  title: string
  effect: string
  input: object
}

/** The operations of the page, by the names of their methods. */
export class PageCalls {
  readonly #calls: ReadonlyMap<string, Call>
  readonly #isReadOnly: boolean

  constructor(isReadOnly: boolean) {
    this.#isReadOnly = isReadOnly
    this.#calls = new Map(
      names.map((name) => {
        const operation = operationNamed(name)
        const method = operation.bindings.rpc?.method ?? name
        return [method, createCall(operation, method)]
      }),
    )
  }

  /** The operations that this server performs, with the schemas of which the page makes forms. */
  list(): PageCall[] {
    return [...this.#calls]
      .filter(([, {operation}]) => !this.#refuses(operation.effect))
      .map(([method, {operation, schema}]) => ({
        method,
        title: operation.title,
        effect: operation.effect,
        input: schema,
      }))
  }

  /** @throws route_unknown, dashboard_read_only */
  find(method: string): Call {
    const call = this.#calls.get(method)
    if (call === undefined) throw new SvcError('route_unknown', {method: 'POST', path: `/api/call/${method}`})
    if (this.#refuses(call.operation.effect)) throw new SvcError('dashboard_read_only', {method})
    return call
  }

  #refuses(effect: Call['operation']['effect']): boolean {
    return this.#isReadOnly && effect !== 'read'
  }
}
