import {conflict, failed, notFound, rows, unavailable, usage} from '../row.js'
import {didYouMean} from '../suggestion.js'

export const planErrors = rows(() => ({
  plan_not_found: notFound({
    message: (p: {plan: string; suggestion?: string | undefined}) =>
      `There is no plan ${p.plan} in this workspace.${didYouMean(p.suggestion)}`,
    hint: 'List the plans with svc orch plan list.',
  }),
  planning_disabled: conflict({
    message: () => 'Planning is switched off in this workspace.',
    hint: 'Set orchestrator.planning_enabled to true in Svc.toml.',
  }),
  plan_goal_invalid: usage({
    message: (p: {fault: string}) => `No plan can be made of what is to be done: it ${p.fault}.`,
    hint: 'Say in a few sentences or lines what is to be done.',
  }),
  plan_mode_unsupported: usage({
    message: (p: {mode: string}) => `A goal cannot be handed to a workflow, as the mode ${p.mode} asks for.`,
    hint: 'Use auto or force_plan for a plan of several steps, or direct for one step.',
  }),
  plan_rejected: conflict({
    http: 403,
    message: (p: {faults: readonly string[]}) => `The plan is not good enough to be kept: ${p.faults.join('; ')}.`,
    hint: 'Say more clearly what is to be done, or set orchestrator.plan_adequacy_enforce to false.',
  }),
  plan_model_answer: failed({
    http: 422,
    message: (p: {fault: string}) => `The answer of the model is no plan: ${p.fault}.`,
    hint: 'Ask again, or ask a larger model.',
  }),
  plan_model_slow: unavailable({
    http: 504,
    message: (p: {ms: number}) => `The model gave no plan within ${p.ms} ms.`,
    hint: 'Ask a faster model, or for fewer steps.',
  }),
  plan_id_too_long: usage({
    message: (p: {name: string; length: number; limit: number}) =>
      `The ${p.name} of the plan has ${p.length} characters, and ${p.limit} are allowed.`,
    hint: 'Use a shorter id.',
  }),
  plan_changed: conflict({
    message: (p: {plan: string; version: number; current: number}) =>
      `${p.plan} is at version ${p.current} by now; the steps were made for version ${p.version}.`,
    hint: 'Look at the plan with svc orch plan status, and make it anew again.',
  }),
  plan_stuck: conflict({
    message: (p: {plan: string; nodes: readonly string[]}) =>
      `Nothing of ${p.plan} can go on: failed or cancelled ${p.nodes.length === 1 ? 'is' : 'are'} ${p.nodes.join(', ')}.`,
    hint: 'Try a failed task again with svc orch retry, or make the plan anew with svc orch plan replan.',
  }),
  plan_step_replaced: conflict({
    message: (p: {task: string; plan: string; node: string; version: number}) =>
      `${p.task} did ${p.node} of ${p.plan}, which others do in its place since version ${p.version}.`,
    hint: 'Have the latest version executed with svc orch plan execute.',
  }),
  plan_file_blocked: conflict({
    message: (p: {path: string}) => `${p.path} is no regular file.`,
    hint: 'Nothing was planned; move it away, or do without the file.',
  }),
  plan_file_escapes: conflict({
    http: 403,
    message: (p: {path: string}) => `${p.path} is a link that leads out of the workspace, or to nothing.`,
    hint: 'Nothing was planned; remove the link, or do without the file.',
  }),
}))
