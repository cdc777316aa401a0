import {command} from '../command.js'
import {conflict, failed, notFound, rows, unavailable, usage} from '../row.js'
import {didYouMean} from '../suggestion.js'

export const planErrors = rows(() => ({
  plan_not_found: notFound({
    message: (p: {plan: string; suggestion?: string | undefined}) =>
      `Plan ${p.plan} does not exist in this workspace.${didYouMean(p.suggestion)}`,
    hint: 'Run `svc orch plan list` to list the plans.',
  }),
  planning_disabled: conflict({
    message: () => 'Planning is disabled in this workspace.',
    hint: 'Set orchestrator.planning_enabled to true in Svc.toml.',
  }),
  plan_goal_invalid: usage({
    message: (p: {fault: string}) => `The goal cannot be planned: it ${p.fault}.`,
    hint: 'Describe the goal in a few sentences or lines.',
  }),
  plan_mode_unsupported: usage({
    message: (p: {mode: string}) => `The plan mode ${p.mode} is not supported.`,
    hint: 'Use auto or force_plan for a plan of several steps, or direct for a single step.',
  }),
  plan_rejected: conflict({
    http: 403,
    message: (p: {faults: readonly string[]}) => `The plan failed the quality checks: ${p.faults.join('; ')}.`,
    hint: 'Describe the goal in more detail, or accept the plan with --force-risky REASON.',
  }),
  plan_model_answer: failed({
    http: 422,
    message: (p: {fault: string}) => `The model did not return a valid plan: ${p.fault}.`,
    hint: 'Run the command again, or use a larger model.',
  }),
  plan_model_slow: unavailable({
    http: 504,
    message: (p: {ms: number}) => `The model returned no plan within ${p.ms} ms.`,
    hint: 'Use a faster model, or ask for fewer steps with --max-tasks.',
  }),
  plan_id_too_long: usage({
    message: (p: {name: string; length: number; limit: number}) =>
      `The ${p.name} of the plan has ${p.length} characters; the maximum is ${p.limit}.`,
    hint: 'Use a shorter id.',
  }),
  plan_changed: conflict({
    message: (p: {plan: string; version: number; current: number}) =>
      `${p.plan} is now at version ${p.current}; the request is for version ${p.version}.`,
    hint: (p: {plan: string}) => `Read the plan again with ${command`svc orch plan status ${p.plan}`}, then replan it.`,
  }),
  plan_stuck: conflict({
    message: (p: {plan: string; nodes: readonly string[]}) =>
      `${p.plan} cannot continue: ${p.nodes.join(', ')} failed or ${p.nodes.length === 1 ? 'was' : 'were'} cancelled.`,
    hint: (p: {plan: string}) =>
      `Retry the failed tasks with \`svc orch retry TASK\`, or replan with ${command`svc orch plan replan ${p.plan} CHANGE`}.`,
  }),
  plan_step_replaced: conflict({
    message: (p: {task: string; plan: string; node: string; version: number}) =>
      `${p.task} belongs to step ${p.node} of ${p.plan}, which was replaced in version ${p.version}.`,
    hint: (p: {plan: string}) => `Run the current version with ${command`svc orch plan execute ${p.plan}`}.`,
  }),
  plan_file_blocked: conflict({
    message: (p: {path: string}) => `Cannot write the plan to ${p.path}: it is not a regular file.`,
    hint: 'Rename or remove the path, or run the command without --write.',
  }),
  plan_file_escapes: conflict({
    http: 403,
    message: (p: {path: string}) =>
      `Cannot write the plan to ${p.path}: it is a symbolic link that is broken or points outside the workspace.`,
    hint: 'Remove the link, or run the command without --write.',
  }),
}))
