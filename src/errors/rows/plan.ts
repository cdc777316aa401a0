import {conflict, failed, notFound, rows, unavailable, usage} from '../row.js'
import {didYouMean} from '../suggestion.js'

export const planErrors = rows(() => ({
  plan_not_found: notFound({
    message: (p: {plan: string; suggestion?: string | undefined}) =>
      `Plan not found in this workspace: ${p.plan}.${didYouMean(p.suggestion)}`,
    hint: 'Run svc orch plan list to list the plans.',
  }),
  planning_disabled: conflict({
    message: () => 'Planning is disabled in this workspace.',
    hint: 'Set orchestrator.planning_enabled to true in Svc.toml.',
  }),
  plan_goal_invalid: usage({
    message: (p: {fault: string}) => `Cannot plan this goal: it ${p.fault}.`,
    hint: 'Describe the goal in a few sentences or lines.',
  }),
  plan_mode_unsupported: usage({
    message: (p: {mode: string}) => `The planning mode ${p.mode} is not supported: there are no workflows.`,
    hint: 'Use auto or force_plan for several steps, or direct for one step.',
  }),
  plan_rejected: conflict({
    http: 403,
    message: (p: {faults: readonly string[]}) =>
      `The plan does not meet the quality requirements: ${p.faults.join('; ')}.`,
    hint: 'Describe the goal more precisely, or set orchestrator.plan_adequacy_enforce to false.',
  }),
  plan_model_answer: failed({
    http: 422,
    message: (p: {fault: string}) => `The model's answer is not a valid plan: ${p.fault}.`,
    hint: 'Retry, or use a larger model.',
  }),
  plan_model_slow: unavailable({
    http: 504,
    message: (p: {ms: number}) => `The model did not produce a plan within ${p.ms} ms.`,
    hint: 'Use a faster model, or request fewer steps.',
  }),
  plan_id_too_long: usage({
    message: (p: {name: string; length: number; limit: number}) =>
      `The ${p.name} of the plan has ${p.length} characters; the limit is ${p.limit}.`,
    hint: 'Use a shorter id.',
  }),
  plan_changed: conflict({
    message: (p: {plan: string; version: number; current: number}) =>
      `${p.plan} is now at version ${p.current}; the steps were drafted for version ${p.version}.`,
    hint: 'Check the plan with svc orch plan status, and replan it.',
  }),
  plan_stuck: conflict({
    message: (p: {plan: string; nodes: readonly string[]}) =>
      `${p.plan} cannot continue: ${p.nodes.join(', ')} failed or ${p.nodes.length === 1 ? 'was' : 'were'} cancelled.`,
    hint: 'Retry a failed task with svc orch retry, or run svc orch plan replan.',
  }),
  plan_step_replaced: conflict({
    message: (p: {task: string; plan: string; node: string; version: number}) =>
      `${p.task} belongs to ${p.node} of ${p.plan}, which was replaced in version ${p.version}.`,
    hint: 'Execute the latest version with svc orch plan execute.',
  }),
  plan_file_blocked: conflict({
    message: (p: {path: string}) => `${p.path} is not a regular file.`,
    hint: 'Move it away, or omit --write. Nothing was planned.',
  }),
  plan_file_escapes: conflict({
    http: 403,
    message: (p: {path: string}) => `${p.path} is a broken link, or a link to a path outside the workspace.`,
    hint: 'Remove the link, or omit --write. Nothing was planned.',
  }),
}))
