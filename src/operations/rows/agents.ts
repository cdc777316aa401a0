import type {Agent} from '../../tasks/index.js'
import type {OperationContext, ResultOf, WorkspaceModules} from '../context.js'
import {type Operation, operation} from '../operation.js'
import {agentId, flag, integer, list, object, taskId, text} from '../schema.js'
import {agent} from '../shapes.js'

const named = object({agent_id: agentId}, {required: ['agent_id']})
const changed = object({ok: flag(), agent}, {required: ['ok', 'agent']})
const moved = list(integer(), 'Ids of tasks moved to other agents.')

interface Naming {
  agent_id: string | number
}

const pause =
  (paused: boolean) =>
  ({agent_id}: Naming, {modules, orchestrator}: OperationContext): {ok: true; agent: Agent} => ({
    ok: true,
    agent: modules.tasks.toAgent(orchestrator, modules.setPaused(orchestrator, agent_id, paused)),
  })

const emptied = (
  {agent: {id, name, state}, moved}: ResultOf<'drainAgent'>,
  {tasks: {displayAgent}}: WorkspaceModules,
) => ({
  agent_id: id,
  display_id: displayAgent(id),
  name,
  state,
  moved,
})

/** Listing, spawning, pausing and retiring agents. */
export const agentOperations: readonly Operation[] = [
  operation<object, {agents: Agent[]}>({
    name: 'list_agents',
    title: 'List agents',
    summary: 'List agents with their state and task counts.',
    effect: 'read',
    idempotent: true,
    input: object({}),
    output: object({agents: list(agent)}, {required: ['agents']}),
    bindings: {
      rpc: {method: 'orch.list_agents'},
      tool: {name: 'svc_agent_list', tier: 'dev', lane: 'workflow'},
      cli: {command: 'orch agents'},
    },
    run: (_, {modules, orchestrator}) => ({agents: modules.tasks.listAgents(orchestrator)}),
  }),
  operation<object, object>({
    name: 'agent_ids',
    title: 'List agent ids',
    summary: 'List the ids of all agents.',
    effect: 'read',
    idempotent: true,
    input: object({}),
    output: object({agent_ids: list(integer())}, {required: ['agent_ids']}),
    bindings: {rpc: {method: 'orch.agent_ids'}},
    run: (_, {modules, orchestrator}) => ({agent_ids: modules.tasks.listAgents(orchestrator).map(({id}) => id)}),
  }),
  operation<
    {
      name: string
      dynamic?: boolean
      parent_agent_id?: string | number
      source_task_id?: number
      delegation_reason?: string
      labels?: string[]
      model?: string
    },
    {agent_id: number; agent: Agent}
  >({
    name: 'spawn_agent',
    title: 'Spawn an agent',
    summary: 'Add an agent to the workspace.',
    effect: 'write',
    idempotent: false,
    input: object(
      {
        name: text('Unique name of the agent.', {minLength: 1, maxLength: 128}),
        dynamic: flag('Retire the agent automatically if it is idle.'),
        parent_agent_id: {
          type: ['integer', 'string'],
          description: 'Name or id of the agent that delegates tasks to the new agent.',
        },
        source_task_id: taskId,
        delegation_reason: text('Reason for spawning the agent.', {maxLength: 4096}),
        labels: list(text(undefined, {maxLength: 256}), 'Labels that tasks can require.', {
          maxItems: 100,
        }),
        model: text('Model that the agent uses.', {maxLength: 512}),
      },
      {required: ['name']},
    ),
    output: object({agent_id: integer(), agent}, {required: ['agent_id', 'agent']}),
    bindings: {
      rpc: {method: 'orch.spawn_agent', aliases: ['orch.spawn_agent_ext']},
      tool: {name: 'svc_spawn_agent', tier: 'dev', lane: 'workflow'},
      cli: {
        command: 'orch agent spawn',
        renames: {label: 'labels', parent: 'parent_agent_id', reason: 'delegation_reason'},
        args: ['name'],
        hidden: ['dynamic', 'source_task_id'],
        placeholders: {parent: 'NAME', model: 'NAME'},
      },
    },
    run({name, dynamic = false, parent_agent_id: parent, source_task_id, delegation_reason, labels, model}, context) {
      const {modules, orchestrator} = context
      const row = modules.spawnAgent(orchestrator, {
        name,
        ...(dynamic ? {kind: 'dynamic'} : {}),
        ...(parent === undefined ? {} : {parent}),
        ...(source_task_id === undefined ? {} : {sourceTaskId: source_task_id}),
        ...(delegation_reason === undefined ? {} : {reason: delegation_reason}),
        ...(labels === undefined ? {} : {labels}),
        ...(model === undefined ? {} : {model}),
      })
      return {agent_id: row.id, agent: modules.tasks.toAgent(orchestrator, row)}
    },
  }),
  operation<Naming, object>({
    name: 'pause_agent',
    title: 'Pause an agent',
    summary: 'Pause an agent, so that it starts no new tasks.',
    effect: 'write',
    idempotent: true,
    input: named,
    output: changed,
    bindings: {
      rpc: {method: 'orch.pause_agent'},
      tool: {name: 'svc_pause_agent', tier: 'dev', lane: 'workflow'},
      cli: {command: 'orch agent pause', renames: {agent: 'agent_id'}, args: ['agent']},
    },
    run: pause(true),
  }),
  operation<Naming, object>({
    name: 'resume_agent',
    title: 'Resume an agent',
    summary: 'Resume a paused agent.',
    effect: 'write',
    idempotent: true,
    input: named,
    output: changed,
    bindings: {
      rpc: {method: 'orch.resume_agent'},
      tool: {name: 'svc_resume_agent', tier: 'dev', lane: 'workflow'},
      cli: {command: 'orch agent resume', renames: {agent: 'agent_id'}, args: ['agent']},
    },
    run: pause(false),
  }),
  operation<Naming & {session_id: string | null}, object>({
    name: 'map_agent_session',
    title: 'Map an agent to a session',
    summary: 'Bind an agent to a session id that its messages must contain; null removes the binding.',
    effect: 'write',
    idempotent: true,
    input: object(
      {agent_id: agentId, session_id: {type: ['string', 'null'], minLength: 1, maxLength: 2048}},
      {required: ['agent_id', 'session_id']},
    ),
    output: changed,
    bindings: {
      rpc: {method: 'orch.map_agent_session'},
      tool: {name: 'svc_map_agent_session', tier: 'dev', lane: 'interop'},
    },
    run: ({agent_id, session_id}, {modules, orchestrator}) => ({
      ok: true,
      agent: modules.tasks.toAgent(orchestrator, modules.tasks.mapSession(orchestrator, agent_id, session_id)),
    }),
  }),
  operation<Naming, object>({
    name: 'drain_agent',
    title: 'Drain an agent',
    summary: 'Move the queued tasks of an agent to others and pause it.',
    effect: 'write',
    idempotent: true,
    input: named,
    output: object(
      {drained_count: integer(), agent_id: integer(), display_id: text(), name: text(), state: text(), moved},
      {required: ['drained_count', 'agent_id', 'display_id', 'name', 'state', 'moved']},
    ),
    bindings: {
      rpc: {method: 'orch.drain_agent'},
      tool: {name: 'svc_drain_agent', tier: 'dev', lane: 'workflow'},
      cli: {command: 'orch agent drain', renames: {agent: 'agent_id'}, args: ['agent']},
    },
    run({agent_id}, {modules, orchestrator}) {
      const result = modules.tasks.drainAgent(orchestrator, agent_id)
      return {drained_count: result.moved.length, ...emptied(result, modules)}
    },
  }),
  operation<Naming, object>({
    name: 'retire_agent',
    title: 'Retire an agent',
    summary: 'Retire an agent and move its tasks to others.',
    effect: 'destructive',
    idempotent: false,
    input: named,
    output: object(
      {remaining_tasks: integer(), agent_id: integer(), display_id: text(), name: text(), state: text(), moved},
      {required: ['remaining_tasks', 'agent_id', 'display_id', 'name', 'state', 'moved']},
    ),
    bindings: {
      rpc: {method: 'orch.retire_agent'},
      tool: {name: 'svc_retire_agent', tier: 'dev', lane: 'workflow'},
      cli: {command: 'orch agent retire', renames: {agent: 'agent_id'}, args: ['agent']},
    },
    run({agent_id}, {modules, orchestrator}) {
      const result = modules.tasks.retireAgent(orchestrator, agent_id)
      return {remaining_tasks: result.moved.length, ...emptied(result, modules)}
    },
  }),
  operation<object, object>({
    name: 'rebalance',
    title: 'Rebalance queues',
    summary: 'Move queued tasks from overloaded agents to others.',
    effect: 'write',
    idempotent: true,
    input: object({}),
    output: object(
      {rebalanced: integer('Number of tasks moved.'), moves: list(object({}, {open: true}))},
      {required: ['rebalanced', 'moves']},
    ),
    bindings: {
      rpc: {method: 'orch.rebalance'},
      tool: {name: 'svc_rebalance', tier: 'dev', lane: 'workflow'},
      cli: {command: 'orch rebalance'},
    },
    run(_, {modules, orchestrator}) {
      const moves = modules.scheduler.rebalance(orchestrator).map(({taskId: id, from, to}) => ({
        task_id: id,
        display_id: modules.tasks.displayTask(id),
        from_agent_id: from,
        to_agent_id: to,
      }))
      return {rebalanced: moves.length, moves}
    },
  }),
]
