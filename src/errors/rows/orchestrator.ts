import {conflict, failed, interrupted, notFound, rows, terminated, unavailable, usage} from '../row.js'
import {didYouMean} from '../suggestion.js'

/** Errors of tasks, of the agents that they are given to, and of what runs them. */
export const orchestratorErrors = rows(() => ({
  orchestrator_disabled: conflict({
    message: () => 'The orchestrator takes no tasks: it is switched off.',
    hint: 'Set orchestrator.enabled to true in Svc.toml, or unset SVC_ORCHESTRATOR_ENABLED.',
  }),
  orchestration_store_missing: unavailable({
    message: (p: {reason: string}) => `Orchestration v2 needs a store and has none: ${p.reason}`,
    hint: 'Repair the store; SVC_WORKSPACE_JOURNEY_FALLBACK_CANONICAL=1 uses the canonical store meanwhile.',
  }),
  task_not_found: notFound({
    message: (p: {task: string}) => `There is no task ${p.task} in this workspace.`,
    hint: 'List the tasks with svc orch tasks.',
  }),
  task_invalid: usage({
    message: (p: {place: string; fault: string}) => `${p.place} cannot be submitted: ${p.fault}.`,
    hint: 'Nothing was submitted; put it right and submit again.',
  }),
  invalid_transition: conflict({
    message: (p: {task: string; from: string; to: string}) => `${p.task} is ${p.from} and cannot become ${p.to}.`,
    hint: (p: {task: string}) => `See where it stands with svc orch task ${p.task}.`,
  }),
  task_path_escapes: usage({
    message: (p: {path: string}) => `The path ${JSON.stringify(p.path)} does not lie in the workspace.`,
    hint: 'Name files relative to the root of the workspace.',
  }),
  dependency_unknown: notFound({
    message: (p: {dependency: string}) => `There is no task ${p.dependency} to depend on.`,
    hint: 'Nothing was submitted; list the tasks with svc orch tasks.',
  }),
  dependency_failed: conflict({
    message: (p: {dependency: string; status: string}) => `${p.dependency} is ${p.status} and will never be completed.`,
    hint: (p: {dependency: string}) => `Retry it first with svc orch retry ${p.dependency}.`,
  }),
  dependency_cycle: usage({
    message: (p: {cycle: readonly string[]}) => `The tasks of the batch wait for each other: ${p.cycle.join(' -> ')}.`,
    hint: 'Nothing was submitted; take one of the dependencies out.',
  }),
  idempotency_mismatch: conflict({
    message: (p: {key: string; task: string}) =>
      `The key ${p.key} belongs to ${p.task}, which asks for something else.`,
    hint: 'Use a new key for a new task.',
  }),
  lock_conflict: conflict({
    message: (p: {path: string; holder: string; kind: string}) => `${p.path} is locked by ${p.holder} (${p.kind}).`,
    hint: 'Wait for its task, depend on it, or give the task to that agent.',
  }),
  scope_denied: conflict({
    http: 403,
    message: (p: {agent: string; path: string}) => `The agent ${p.agent} may not write ${p.path}.`,
    hint: 'Give the task to an agent with that scope, or widen the scope in its file under .svc/agents.',
  }),
  queue_full: conflict({
    http: 429,
    message: (p: {queued: number; limit: number}) => `${p.queued} tasks are queued, and the limit is ${p.limit}.`,
    hint: 'Wait until some are done, cancel some, or raise orchestrator.max_queue_len.',
  }),
  agent_not_found: notFound({
    message: (p: {agent: string; suggestion?: string | undefined}) =>
      `There is no agent ${p.agent}.${didYouMean(p.suggestion)}`,
    hint: 'List the agents with svc orch agents.',
  }),
  agent_exists: conflict({
    message: (p: {name: string; agent: string}) => `The name ${p.name} is taken by ${p.agent}.`,
    hint: 'Choose another name, or retire that agent.',
  }),
  max_agents_reached: conflict({
    message: (p: {limit: number}) => `There are ${p.limit} agents, and no more are allowed.`,
    hint: 'Retire an agent, or raise orchestrator.max_agents.',
  }),
  last_agent: conflict({
    message: (p: {agent: string; tasks: number}) => `${p.agent} has ${p.tasks} tasks and no other agent can take them.`,
    hint: 'Spawn or resume another agent first.',
  }),
  delegation_parent_not_found: notFound({
    message: (p: {parent: string}) => `There is no agent ${p.parent} to be the parent.`,
    hint: 'List the agents with svc orch agents.',
  }),
  claim_required: conflict({
    message: (p: {task: string; owner: string}) => `${p.task} is held by ${p.owner}, and no claim was given.`,
    hint: 'Give the generation of your claim (--claim N); svc orch complete or fail with --force takes the task over.',
  }),
  claim_lost: conflict({
    message: (p: {task: string; generation: number; current: number; status: string}) =>
      `Claim ${p.generation} of ${p.task} no longer counts: the task is ${p.status}, its latest claim ${p.current}.`,
    hint: 'Somebody else has the task now, or it is over; throw the result away and claim another task.',
  }),
  no_task_to_claim: notFound({
    message: () => 'No external task waits to be claimed.',
    hint: 'Submit one with svc orch submit --processor external, or try again later.',
  }),
  task_not_successful: failed({
    http: 422,
    message: (p: {task: string; status: string; reason: string}) =>
      `${p.task} ended as ${p.status}${p.reason === '' ? '' : `: ${p.reason}`}.`,
    hint: (p: {task: string}) =>
      `See it with svc orch task ${p.task}; a failed task can be tried again with svc orch retry ${p.task}.`,
  }),
  task_wait_timeout: unavailable({
    http: 504,
    message: (p: {task: string; status: string; seconds: number}) =>
      `${p.task} is still ${p.status} after ${p.seconds} s.`,
    hint: (p: {task: string}) =>
      `It goes on while svc daemon run runs in this workspace; wait for it with svc orch task ${p.task} --wait.`,
  }),
  wait_interrupted: interrupted({
    message: (p: {task: string; status: string}) => `Interrupted: ${p.task} is ${p.status}, and goes on.`,
    hint: (p: {task: string}) => `Wait for it again with svc orch task ${p.task} --wait.`,
  }),
  wait_terminated: terminated({
    message: (p: {task: string; status: string}) => `Terminated: ${p.task} is ${p.status}, and goes on.`,
    hint: (p: {task: string}) => `Wait for it again with svc orch task ${p.task} --wait.`,
  }),
  daemon_running: conflict({
    message: (p: {pid: number; host: string}) =>
      `A daemon of this workspace runs already: process ${p.pid} on ${p.host}.`,
    hint: 'One is enough; stop the other one first if it must be this one.',
  }),
  daemon_replaced: conflict({
    message: (p: {fence: number}) => `Another daemon has taken this workspace over (term ${p.fence}).`,
    hint: 'Its tasks go on there; this process has ended its own.',
  }),
}))
