import {command} from '../command.js'
import {counted} from '../counted.js'
import {conflict, failed, interrupted, notFound, oneLine, rows, terminated, unavailable, usage} from '../row.js'
import {didYouMean} from '../suggestion.js'

/** Errors of tasks, agents and daemons. */
export const orchestratorErrors = rows(() => ({
  orchestrator_disabled: conflict({
    message: () => 'The orchestrator is disabled in this workspace.',
    hint: 'Set orchestrator.enabled to true in Svc.toml, or unset SVC_ORCHESTRATOR_ENABLED.',
  }),
  stopped: conflict({
    http: 503,
    message: (p: {reason: string | undefined}) =>
      `The orchestrator was stopped in an emergency${p.reason === undefined ? '' : `: ${oneLine(p.reason)}`}.`,
    hint: 'Run `svc orch start` to accept and run tasks again.',
  }),
  doom_loop: conflict({
    message: (p: {agent: string; used: number; limit: number}) =>
      `The agent ${p.agent} has spent ${usd(p.used)} without completing a task; the limit is ${usd(p.limit)}.`,
    hint: (p: {agent: string}) =>
      `Complete a task of ${p.agent}, assign the new task to another agent, or retire ${p.agent} with ${command`svc orch agent retire ${p.agent}`}.`,
  }),
  budget_exceeded: conflict({
    http: 429,
    message: (p: {agent: string; kind: 'tokens' | 'cost'; used: number; estimate: number; limit: number}) =>
      p.kind === 'tokens'
        ? `The agent ${p.agent} has used ${p.used} of its ${p.limit} tokens for today, and the task needs about ${p.estimate}.`
        : `The agent ${p.agent} has spent ${usd(p.used)} of its ${usd(p.limit)} for today.`,
    hint: (p: {kind: 'tokens' | 'cost'}) =>
      `Assign the task to another agent, wait until the next day (UTC), or raise orchestrator.${p.kind === 'tokens' ? 'agent_token_budget' : 'agent_daily_budget_micros'}.`,
  }),
  orchestration_store_missing: unavailable({
    message: (p: {reason: string}) => `Cannot use the task store of this workspace. ${p.reason}`,
    hint: 'Restore .svc/store.db, or use the canonical store in your home directory with SVC_WORKSPACE_JOURNEY_FALLBACK_CANONICAL=1.',
  }),
  hidden_checks_unread: unavailable({
    message: (p: {isRunning: boolean}) =>
      p.isRunning
        ? 'The daemon has not read the hidden checks of this workspace.'
        : 'The daemon runs the hidden checks of this workspace, and it is not running.',
    hint: (p: {isRunning: boolean}) =>
      p.isRunning
        ? 'Run `svc daemon call orch.reload_config`, then repeat the command.'
        : 'Run `svc daemon start`, then repeat the command.',
  }),
  task_not_found: notFound({
    message: (p: {task: string}) => `Task ${p.task} does not exist in this workspace.`,
    hint: 'Run `svc orch tasks` to list the tasks.',
  }),
  task_invalid: usage({
    message: (p: {place: string; fault: string}) => `${p.place} cannot be submitted: ${p.fault}.`,
    hint: 'Correct the task and submit again; nothing was submitted.',
  }),
  context_invalid: usage({
    message: (p: {key: string; fault: string}) =>
      `The context entry ${JSON.stringify(p.key)} was not stored: ${p.fault}.`,
    hint: 'Correct the entry and set it again.',
  }),
  context_full: conflict({
    message: (p: {limit: number}) =>
      `The context store is full: it has ${counted(p.limit, 'entry', 'entries')}, and none of them expires.`,
    hint: 'To free space, overwrite entries that you no longer need with a short ttl_secs.',
  }),
  invalid_transition: conflict({
    message: (p: {task: string; from: string; to: string}) => `${p.task} is ${p.from} and cannot become ${p.to}.`,
    hint: (p: {task: string}) => `Run ${command`svc orch task ${p.task}`} to see its status.`,
  }),
  task_path_escapes: usage({
    message: (p: {path: string}) => `The path ${JSON.stringify(p.path)} is not a valid path inside the workspace.`,
    hint: 'Use a path relative to the root of the workspace.',
  }),
  completion_refused: failed({
    message: (p: {task: string; gate: string; outcome: string; iteration: number; cap: number}) =>
      p.outcome === 'failed'
        ? `${p.task} failed: the gate ${p.gate} did not accept the result, and has returned the task ${counted(p.iteration, 'time')}.`
        : `${p.task} is queued again: the gate ${p.gate} did not accept the result (${p.iteration} of ${p.cap}).`,
    hint: (p: {task: string; outcome: string}) =>
      p.outcome === 'failed'
        ? `Correct the findings, which ${command`svc orch task ${p.task}`} shows, and run ${command`svc orch retry ${p.task}`}.`
        : `Correct the findings, which ${command`svc orch task ${p.task}`} shows, claim the task again, and complete it.`,
  }),
  receipt_invalid: failed({
    message: (p: {task: string; receipt: string | undefined}) =>
      p.receipt === undefined
        ? `${p.task} has no receipt: the completion gates did not accept it.`
        : `The stored evidence of ${p.task} does not match its receipt.`,
    hint: (p: {task: string}) => `Run ${command`svc orch task ${p.task} --evidence`} to see the stored evidence.`,
  }),
  dependency_unknown: notFound({
    message: (p: {dependency: string}) => `Task ${p.dependency}, which this task depends on, does not exist.`,
    hint: 'Run `svc orch tasks` to list the tasks.',
  }),
  dependency_failed: conflict({
    message: (p: {dependency: string; status: string}) => `The task depends on ${p.dependency}, which is ${p.status}.`,
    hint: (p: {dependency: string; status: string}) =>
      p.status === 'Failed'
        ? `Retry ${p.dependency} first with ${command`svc orch retry ${p.dependency}`}.`
        : `Submit the work of ${p.dependency} as a new task, and depend on that task.`,
  }),
  dependency_cycle: usage({
    message: (p: {cycle: readonly string[]}) => `The dependencies of the batch form a cycle: ${p.cycle.join(' -> ')}.`,
    hint: 'Remove one of these dependencies; nothing was submitted.',
  }),
  idempotency_mismatch: conflict({
    message: (p: {key: string; task: string}) =>
      `The idempotency key ${p.key} was already used for ${p.task}, which has different content.`,
    hint: 'Submit a new task with a new key.',
  }),
  lock_conflict: conflict({
    message: (p: {path: string; holder: string; kind: string}) =>
      `${p.path} is ${p.kind === 'exclusively_held' ? 'locked' : 'being read'} by a task of ${p.holder}.`,
    hint: 'Wait until that task has finished, or assign this task to the same agent with --agent.',
  }),
  scope_denied: conflict({
    http: 403,
    message: (p: {agent: string; path: string}) =>
      `The agent ${p.agent} is not allowed to write ${p.path}, which is outside its scope.`,
    hint: 'Assign the task to an agent whose scope includes the file, or extend the scope in .svc/agents/NAME.md.',
  }),
  evidence_insufficient: conflict({
    http: 403,
    message: (p: {confidence: number}) =>
      `The evidence of the task does not support an answer: the confidence is ${p.confidence}.`,
    hint: 'Add sources to the context envelope or the retrieval of the task, and submit it again.',
  }),
  approval_blocked: conflict({
    http: 403,
    message: (p: {task: string}) => `${p.task} requires the approval of a person.`,
    hint: (p: {task: string}) => `Ask the user to run ${command`svc orch approve ${p.task}`}.`,
  }),
  plan_review_required: conflict({
    http: 403,
    message: (p: {plan: string}) => `The user has not approved the execution of the plan ${p.plan}.`,
    hint: (p: {plan: string}) => `Ask the user to run ${command`svc orch plan execute ${p.plan}`}.`,
  }),
  attention_exhausted: conflict({
    http: 429,
    message: (p: {spentMs: number; maxMs: number}) =>
      `The attention budget of the user is exhausted: ${p.spentMs} of ${p.maxMs} ms are spent.`,
    hint: 'Ask the user to run `svc orch attention --reset`, or wait until midnight.',
  }),
  question_not_found: notFound({
    message: (p: {question: string}) => `Question ${p.question} does not exist, or no longer needs an answer.`,
    hint: 'Run `svc orch questions` to list the questions that need an answer.',
  }),
  question_answered: conflict({
    message: (p: {question: string; answer: string | undefined}) =>
      `Question ${p.question} has already been answered${p.answer === undefined ? '' : `: ${oneLine(p.answer.slice(0, 200))}`}.`,
    hint: 'Run `svc orch questions` to list the questions that need an answer.',
  }),
  question_invalid: usage({
    message: (p: {place: string; fault: string}) => `${p.place} is not valid: ${p.fault}.`,
    hint: 'Correct it and try again; nothing was stored.',
  }),
  question_refused: conflict({
    message: (p: {session: string; reason: string}) =>
      `No further question can be asked in the session ${JSON.stringify(p.session)}: ${p.reason}.`,
    hint: 'Continue with the best assumption, and report it with the result.',
  }),
  question_pending: conflict({
    message: (p: {subject: string; question: string}) => `${p.subject} waits for the answer to ${p.question}.`,
    hint: (p: {question: string}) => `Answer it with ${command`svc orch questions answer ${p.question} TEXT`}.`,
  }),
  queue_full: conflict({
    http: 429,
    message: (p: {queued: number; limit: number}) => `The queue is full: ${p.queued} of ${p.limit} tasks are queued.`,
    hint: 'Wait, cancel tasks with `svc orch cancel TASK`, or raise orchestrator.max_queue_len.',
  }),
  agent_not_found: notFound({
    message: (p: {agent: string; suggestion?: string | undefined}) =>
      `Agent ${p.agent} does not exist.${didYouMean(p.suggestion)}`,
    hint: 'Run `svc orch agents` to list the agents.',
  }),
  agent_exists: conflict({
    message: (p: {name: string; agent: string}) => `The agent name ${p.name} is already used by ${p.agent}.`,
    hint: (p: {agent: string}) =>
      `Choose another name, or retire that agent with ${command`svc orch agent retire ${p.agent}`}.`,
  }),
  max_agents_reached: conflict({
    message: (p: {limit: number}) => `The limit of ${counted(p.limit, 'agent')} is reached.`,
    hint: 'Retire an agent with `svc orch agent retire AGENT`, or raise orchestrator.max_agents.',
  }),
  last_agent: conflict({
    message: (p: {agent: string; tasks: number}) =>
      `Cannot drain or retire ${p.agent}: it has ${counted(p.tasks, 'unfinished task')}, and no other agent is active.`,
    hint: 'Start another agent first with `svc orch agent spawn NAME` or `svc orch agent resume AGENT`.',
  }),
  delegation_parent_not_found: notFound({
    message: (p: {parent: string}) => `The parent agent ${p.parent} does not exist.`,
    hint: 'Run `svc orch agents` to list the agents.',
  }),
  claim_required: conflict({
    message: (p: {task: string; owner: string}) =>
      `${p.task} is claimed by ${p.owner}, and the request contains no claim.`,
    hint: 'Pass your claim with --claim N, or take the task over with --force.',
  }),
  claim_lost: conflict({
    message: (p: {task: string; generation: number; current: number; status: string}) =>
      `Claim ${p.generation} of ${p.task} is no longer valid: the task is ${p.status} with claim ${p.current}.`,
    hint: 'Discard the result, and claim another task with `svc orch claim`.',
  }),
  stale_handoff: conflict({
    message: (p: {task: string; reason: string}) => `Cannot hand over ${p.task}: ${p.reason}.`,
    hint: (p: {task: string}) =>
      `Run ${command`svc orch task ${p.task}`} to see its agent and its claim, then try again.`,
  }),
  handoff_invariant: conflict({
    message: (p: {task: string; reason: string}) => `Cannot hand over ${p.task}: ${p.reason}.`,
    hint: 'Correct the request; nothing was changed.',
  }),
  no_task_to_claim: notFound({
    message: () => 'No task is waiting to be claimed.',
    hint: 'Submit a task with `svc orch submit --processor external DESCRIPTION`, or wait for one with `svc orch claim --wait`.',
  }),
  task_not_successful: failed({
    http: 422,
    message: (p: {task: string; status: string; reason: string}) =>
      `${p.task} ${p.status === 'Failed' ? 'failed' : `is ${p.status}`}${p.reason === '' ? '' : `: ${p.reason}`}.`,
    hint: (p: {task: string}) =>
      `Run ${command`svc orch task ${p.task}`} for details, or ${command`svc orch retry ${p.task}`} to retry a failed task.`,
  }),
  task_wait_timeout: unavailable({
    http: 504,
    message: (p: {task: string; status: string; seconds: number}) =>
      `${p.task} is still ${p.status} after ${p.seconds} s.`,
    hint: (p: {task: string}) =>
      `Check that a daemon is running with ${command`svc daemon status`}, then wait again with ${command`svc orch task ${p.task} --wait`}.`,
  }),
  wait_interrupted: interrupted({
    message: (p: {task: string; status: string}) => `The wait was interrupted; ${p.task} is still ${p.status}.`,
    hint: (p: {task: string}) => `Wait again with ${command`svc orch task ${p.task} --wait`}.`,
  }),
  wait_terminated: terminated({
    message: (p: {task: string; status: string}) => `The wait was terminated; ${p.task} is still ${p.status}.`,
    hint: (p: {task: string}) => `Wait again with ${command`svc orch task ${p.task} --wait`}.`,
  }),
  daemon_running: conflict({
    message: (p: {pid: number; host: string}) =>
      `A daemon is already running in this workspace (pid ${p.pid} on ${p.host}).`,
    hint: 'Use that daemon, or stop it first with `svc daemon stop`.',
  }),
  daemon_replaced: conflict({
    message: (p: {fence: number}) => `Another daemon has taken over this workspace (fencing token ${p.fence}).`,
    hint: 'Check the current daemon with `svc daemon status`; this process has stopped.',
  }),
}))

const usd = (micros: number) => `${(micros / 1e6).toFixed(2)} USD`
