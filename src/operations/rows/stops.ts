import type {OperationContext, ResultOf} from '../context.js'
import {type Operation, operation} from '../operation.js'
import {agentId, flag, integer, list, number, object, taskId, text} from '../schema.js'

const budget = object(
  {
    agent_id: integer(),
    name: text(),
    tokens_today: integer('Tokens of the current day (UTC).'),
    token_limit: integer('0: no limit.'),
    cost_usd_today: number(),
    cost_limit_usd: number('0: no limit.'),
    unfinished_cost_usd: number('Cost since the last completed task; above 2 USD, the agent gets no new tasks.'),
    tokens_used: integer('Tokens since the agent was spawned.'),
    cost_usd: number(),
    blocked_by: {enum: ['doom_loop', 'tokens', 'cost', null], description: 'Why new tasks for the agent are refused.'},
  },
  {
    required: [
      'agent_id',
      'name',
      'tokens_today',
      'token_limit',
      'cost_usd_today',
      'cost_limit_usd',
      'unfinished_cost_usd',
      'tokens_used',
      'cost_usd',
      'blocked_by',
    ],
  },
)

interface Cost {
  agent_id?: string | number
  session_id?: string
  task_id?: number
  provider: string
  model: string
  cost_usd: number
  input_tokens?: number
  output_tokens?: number
}

/** The agent of a cost: as named, or the agent of the task, or that of the session. @throws agent_not_found, task_not_found */
function agentOf({agent_id, session_id, task_id}: Cost, {modules: {tasks, sessions}, orchestrator}: OperationContext) {
  if (agent_id !== undefined) return tasks.requireAgent(orchestrator, agent_id).id
  if (task_id !== undefined) return tasks.requireTask(orchestrator, task_id).agent_id
  if (session_id === undefined) return undefined
  const agents = tasks.agentRows(orchestrator)
  const mapped = agents.find((row) => row.session_id === session_id)
  if (mapped !== undefined) return mapped.id
  const session = sessions.findSession(sessions.sessionsOf(orchestrator), session_id)
  return agents.find(({name}) => name === session?.agent_id)?.id
}

/** Emergency stops, and the budgets of agents. */
export const stopOperations: readonly Operation[] = [
  operation<{reason?: string}, {ok: true; requeued: number[]}>({
    name: 'emergency_stop',
    title: 'Stop everything',
    summary: 'Stop all running tasks and refuse new ones until the orchestrator is started again.',
    effect: 'destructive',
    idempotent: true,
    input: object({reason: text('Reason, shown with every refusal.', {maxLength: 2000})}),
    output: object(
      {ok: flag(), requeued: list(integer(), 'Ids of the tasks that were running; they are queued again.')},
      {required: ['ok', 'requeued']},
    ),
    bindings: {
      rpc: {method: 'orch.emergency_stop'},
      tool: {name: 'svc_emergency_stop', tier: 'advanced', lane: 'workflow'},
      cli: {command: 'orch stop', own: true},
    },
    run: ({reason}, {modules, orchestrator}) => ({
      ok: true,
      requeued: modules.tasks.emergencyStop(orchestrator, reason?.trim() || undefined),
    }),
  }),
  operation<object, {ok: true; was_stopped: boolean}>({
    name: 'start_orchestrator',
    title: 'Start the orchestrator',
    summary: 'Resume all tasks after an emergency stop.',
    effect: 'write',
    idempotent: true,
    input: object({}),
    output: object(
      {ok: flag(), was_stopped: flag('False if there was no emergency stop.')},
      {required: ['ok', 'was_stopped']},
    ),
    bindings: {
      rpc: {method: 'orch.start'},
      tool: {name: 'svc_orchestrator_start', tier: 'advanced', lane: 'workflow'},
      cli: {command: 'orch start'},
    },
    run: (_, {modules, orchestrator}) => ({ok: true, was_stopped: modules.tasks.startOrchestrator(orchestrator)}),
  }),
  operation<{agent_id?: string | number}, {budgets: ResultOf<'agentBudgets'>}>({
    name: 'budget_status',
    title: 'Show budgets',
    summary: 'Show what agents have used of their token and cost budgets, and why one gets no new tasks.',
    effect: 'read',
    idempotent: true,
    input: object({agent_id: agentId}),
    output: object({budgets: list(budget)}, {required: ['budgets']}),
    bindings: {
      rpc: {method: 'orch.budget_status'},
      tool: {name: 'svc_budget_status', tier: 'advanced', lane: 'workflow'},
    },
    run: ({agent_id}, {modules, orchestrator}) => ({budgets: modules.tasks.agentBudgets(orchestrator, agent_id)}),
  }),
  operation<Cost, {ok: true; agent_id: number | null}>({
    name: 'record_cost',
    title: 'Record a cost',
    summary: 'Record the tokens and the cost of a model call that svc did not make, for the budget of an agent.',
    effect: 'write',
    idempotent: false,
    input: object(
      {
        agent_id: agentId,
        session_id: text('Session of the agent, if agent_id is omitted.', {maxLength: 2048}),
        task_id: taskId,
        provider: text(undefined, {minLength: 1, maxLength: 256}),
        model: text(undefined, {minLength: 1, maxLength: 512}),
        cost_usd: number(undefined, {minimum: 0, maximum: 1_000_000}),
        input_tokens: integer(undefined, {minimum: 0, maximum: 1_000_000_000, default: 0}),
        output_tokens: integer(undefined, {minimum: 0, maximum: 1_000_000_000, default: 0}),
      },
      {required: ['provider', 'model', 'cost_usd']},
    ),
    output: object(
      {
        ok: flag(),
        agent_id: {type: ['integer', 'null'], description: 'Agent whose budget was charged; null if there is none.'},
      },
      {required: ['ok', 'agent_id']},
    ),
    bindings: {
      rpc: {method: 'orch.record_cost'},
      tool: {name: 'svc_record_cost', tier: 'advanced', lane: 'workflow'},
    },
    run(input, context) {
      const {modules, orchestrator} = context
      const {provider, model, cost_usd: costUsd, input_tokens: inputTokens = 0, output_tokens: outputTokens = 0} = input
      const agent = agentOf(input, context)
      const usage = {provider, model, costUsd, inputTokens, outputTokens}
      orchestrator.store.transaction(() => {
        if (agent === undefined) modules.tasks.emitCost(orchestrator, usage)
        else modules.tasks.chargeAgent(orchestrator, agent, usage, input.task_id)
      })
      return {ok: true, agent_id: agent ?? null}
    },
  }),
]
