import {conflict, failed, interrupted, notFound, rows, terminated, unavailable, usage} from '../row.js'
import {didYouMean} from '../suggestion.js'

/** Errors of tasks, agents and the daemon. */
export const orchestratorErrors = rows(() => ({
  orchestrator_disabled: conflict({
    message: () => 'The orchestrator is disabled.',
    hint: 'Set orchestrator.enabled to true in Svc.toml, or unset SVC_ORCHESTRATOR_ENABLED.',
  }),
  orchestration_store_missing: unavailable({
    message: (p: {reason: string}) => `Orchestration v2 needs a store and has none: ${p.reason}`,
    hint: 'Repair the store, or set SVC_WORKSPACE_JOURNEY_FALLBACK_CANONICAL=1 to use the canonical store meanwhile.',
  }),
  task_not_found: notFound({
    message: (p: {task: string}) => `Task not found in this workspace: ${p.task}.`,
    hint: 'Run svc orch tasks to list the tasks.',
  }),
  task_invalid: usage({
    message: (p: {place: string; fault: string}) => `${p.place} cannot be submitted: ${p.fault}.`,
    hint: 'Correct it and submit again. Nothing was submitted.',
  }),
  invalid_transition: conflict({
    message: (p: {task: string; from: string; to: string}) => `${p.task} is ${p.from} and cannot become ${p.to}.`,
    hint: (p: {task: string}) => `Run svc orch task ${p.task} to see its state.`,
  }),
  task_path_escapes: usage({
    message: (p: {path: string}) => `The path ${JSON.stringify(p.path)} is outside the workspace.`,
    hint: 'Use paths relative to the root of the workspace.',
  }),
  dependency_unknown: notFound({
    message: (p: {dependency: string}) => `Dependency not found: ${p.dependency}.`,
    hint: 'Run svc orch tasks to list the tasks. Nothing was submitted.',
  }),
  dependency_failed: conflict({
    message: (p: {dependency: string; status: string}) => `${p.dependency} is ${p.status} and will never be completed.`,
    hint: (p: {dependency: string}) => `Retry it first: svc orch retry ${p.dependency}.`,
  }),
  dependency_cycle: usage({
    message: (p: {cycle: readonly string[]}) => `The tasks of the batch wait for each other: ${p.cycle.join(' -> ')}.`,
    hint: 'Remove one of the dependencies. Nothing was submitted.',
  }),
  idempotency_mismatch: conflict({
    message: (p: {key: string; task: string}) =>
      `The idempotency key ${p.key} was used for ${p.task}, which is a different request.`,
    hint: 'Use another key for a different task.',
  }),
  lock_conflict: conflict({
    message: (p: {path: string; holder: string; kind: string}) => `${p.path} is locked by ${p.holder} (${p.kind}).`,
    hint: 'Wait for that task, depend on it, or assign this task to the same agent.',
  }),
  scope_denied: conflict({
    http: 403,
    message: (p: {agent: string; path: string}) => `The agent ${p.agent} may not write ${p.path}.`,
    hint: 'Assign the task to an agent with that scope, or extend the scope in its file in .svc/agents.',
  }),
  queue_full: conflict({
    http: 429,
    message: (p: {queued: number; limit: number}) =>
      `The queue is full: ${p.queued} tasks are queued, the limit is ${p.limit}.`,
    hint: 'Wait for tasks to finish, cancel some, or increase orchestrator.max_queue_len.',
  }),
  agent_not_found: notFound({
    message: (p: {agent: string; suggestion?: string | undefined}) =>
      `Agent not found: ${p.agent}.${didYouMean(p.suggestion)}`,
    hint: 'Run svc orch agents to list the agents.',
  }),
  agent_exists: conflict({
    message: (p: {name: string; agent: string}) => `The agent name ${p.name} is used by ${p.agent}.`,
    hint: 'Choose another name, or retire that agent.',
  }),
  max_agents_reached: conflict({
    message: (p: {limit: number}) => `The limit of ${p.limit} agents is reached.`,
    hint: 'Retire an agent, or increase orchestrator.max_agents.',
  }),
  last_agent: conflict({
    message: (p: {agent: string; tasks: number}) =>
      `${p.agent} has ${p.tasks} tasks, and no other agent can take over.`,
    hint: 'Spawn or resume another agent first.',
  }),
  delegation_parent_not_found: notFound({
    message: (p: {parent: string}) => `Parent agent not found: ${p.parent}.`,
    hint: 'Run svc orch agents to list the agents.',
  }),
  claim_required: conflict({
    message: (p: {task: string; owner: string}) => `${p.task} is claimed by ${p.owner}, and the request has no claim.`,
    hint: 'Pass the generation of your claim with --claim N, or take over the task with --force.',
  }),
  claim_lost: conflict({
    message: (p: {task: string; generation: number; current: number; status: string}) =>
      `Claim ${p.generation} of ${p.task} is no longer valid: the task is ${p.status}, its latest claim is ${p.current}.`,
    hint: 'Discard the result and claim another task.',
  }),
  no_task_to_claim: notFound({
    message: () => 'No external task is queued.',
    hint: 'Submit one with svc orch submit --processor external, or retry later.',
  }),
  task_not_successful: failed({
    http: 422,
    message: (p: {task: string; status: string; reason: string}) =>
      `${p.task} ended as ${p.status}${p.reason === '' ? '' : `: ${p.reason}`}.`,
    hint: (p: {task: string}) =>
      `Run svc orch task ${p.task} for details, or svc orch retry ${p.task} to run a failed task again.`,
  }),
  task_wait_timeout: unavailable({
    http: 504,
    message: (p: {task: string; status: string; seconds: number}) =>
      `${p.task} is still ${p.status} after ${p.seconds} s.`,
    hint: (p: {task: string}) =>
      `Keep waiting with svc orch task ${p.task} --wait. A daemon must run in this workspace.`,
  }),
  wait_interrupted: interrupted({
    message: (p: {task: string; status: string}) => `Interrupted. ${p.task} is ${p.status} and continues.`,
    hint: (p: {task: string}) => `Wait again with svc orch task ${p.task} --wait.`,
  }),
  wait_terminated: terminated({
    message: (p: {task: string; status: string}) => `Terminated. ${p.task} is ${p.status} and continues.`,
    hint: (p: {task: string}) => `Wait again with svc orch task ${p.task} --wait.`,
  }),
  daemon_running: conflict({
    message: (p: {pid: number; host: string}) =>
      `A daemon is already running in this workspace: pid ${p.pid} on ${p.host}.`,
    hint: 'Use it, or stop it first with svc daemon stop.',
  }),
  daemon_replaced: conflict({
    message: (p: {fence: number}) => `Another daemon took over this workspace (term ${p.fence}).`,
    hint: 'Nothing to do: the other daemon continues the tasks.',
  }),
}))
