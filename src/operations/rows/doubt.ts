import {clearDecision} from '../../contracts/index.js'
import type {Task} from '../../tasks/index.js'
import type {OperationContext, ResultOf} from '../context.js'
import {doubtForm} from '../open-question.js'
import {type Operation, operation} from '../operation.js'
import {flag, integer, list, object, taskId, text} from '../schema.js'
import {task} from '../shapes.js'

const report = text('Findings, for the agent and for the record.', {minLength: 1, maxLength: 131_072})

interface Doubted {
  task_id: number
  status: string
  resolver_agent: string
  /** Immediate answer of the person behind the caller. */
  resolution?: {validated: boolean; report: string}
}

/** If someone else resolves the doubt while the person is asked, that resolution wins and a notice reports it. */
async function askPerson(doubted: Task, {ask, notice, modules, orchestrator}: OperationContext): Promise<Doubted> {
  const {id: task_id, agent_name: resolver_agent} = doubted
  const answer = await ask?.(doubtForm(doubted))
  const validated = clearDecision(answer?.validated)
  if (validated === undefined || typeof answer?.report !== 'string')
    return {task_id, status: doubted.status, resolver_agent}
  const resolution = {validated, report: answer.report}
  return orchestrator.store.transaction(() => {
    const {status, display_id} = modules.tasks.requireTask(orchestrator, task_id)
    if (status !== 'Doubted') {
      notice(`warning: ${display_id} is already ${status}; your answer about its doubt was ignored.`)
      return {task_id, status, resolver_agent}
    }
    return {
      task_id,
      status: modules.tasks.resolveDoubt(orchestrator, task_id, resolution).status,
      resolver_agent,
      resolution,
    }
  })
}

/** Doubting tasks and resolving doubts. */
export const doubtOperations: readonly Operation[] = [
  operation<{task_id: number; reason?: string}, Doubted & {task: Task}>({
    name: 'doubt_task',
    title: 'Doubt a task',
    summary: 'Pause a task until a person resolves a doubt about it.',
    effect: 'write',
    idempotent: true,
    input: object({task_id: taskId, reason: text('Reason for the doubt.', {maxLength: 4096})}, {required: ['task_id']}),
    output: object(
      {
        task_id: integer(),
        status: text(),
        resolver_agent: text(),
        resolution: object({validated: flag(), report: text()}, {required: ['validated', 'report']}),
        task,
      },
      {required: ['task_id', 'status', 'task']},
    ),
    bindings: {
      rpc: {method: 'orch.doubt_task'},
      tool: {name: 'svc_doubt_task', tier: 'core', lane: 'workflow'},
      cli: {command: 'orch doubt', renames: {id: 'task_id'}, args: ['id'], chars: {reason: 'r'}},
    },
    async run({task_id, reason}, context) {
      const {modules, orchestrator} = context
      const doubted = await askPerson(modules.tasks.doubtTask(orchestrator, task_id, reason), context)
      return {...doubted, task: modules.tasks.requireTask(orchestrator, task_id)}
    },
  }),
  operation<
    {task_id: number; validated: boolean; report: string; resume?: boolean},
    {task: Task; awards: ResultOf<'awardsOf'>}
  >({
    name: 'resolve_doubt',
    title: 'Resolve a doubt',
    summary: 'Resolve the doubt about a task; a justified doubt requeues the task.',
    effect: 'write',
    idempotent: false,
    input: object(
      {
        task_id: taskId,
        validated: flag('True if the work is correct and the doubt unjustified.'),
        report,
        resume: flag('Resume an unfinished validated task instead of completing it; default: true.'),
      },
      {required: ['task_id', 'validated', 'report']},
    ),
    output: object({task, awards: list(object({}, {open: true}))}, {required: ['task', 'awards']}),
    bindings: {
      rpc: {method: 'orch.resolve_doubt'},
      tool: {name: 'svc_resolve_doubt', tier: 'core', lane: 'workflow'},
      cli: {command: 'orch resolve', own: true},
    },
    run({task_id, validated, report: findings, resume = true}, {modules, orchestrator}) {
      const resolved = modules.tasks.resolveDoubt(orchestrator, task_id, {validated, report: findings, resume})
      return {task: resolved, awards: modules.tasks.awardsOf(orchestrator, task_id)}
    },
  }),
  operation<{task_id: number; reason?: string}, {ok: true; task: Task}>({
    name: 'overrule_doubt',
    title: 'Overrule a doubt',
    summary: 'Complete a doubted task despite the doubt.',
    effect: 'write',
    idempotent: false,
    input: object(
      {task_id: taskId, reason: text('Reason for overruling the doubt.', {maxLength: 4096})},
      {required: ['task_id']},
    ),
    output: object({ok: flag(), task}, {required: ['ok', 'task']}),
    bindings: {
      rpc: {method: 'orch.overrule_doubt'},
      tool: {name: 'svc_overrule_doubt', tier: 'dev', lane: 'workflow'},
      cli: {command: 'orch overrule', renames: {id: 'task_id'}, args: ['id'], chars: {reason: 'r'}},
    },
    run: ({task_id, reason}, {modules, orchestrator}) => ({
      ok: true,
      task: modules.tasks.overruleDoubt(orchestrator, task_id, reason),
    }),
  }),
]
