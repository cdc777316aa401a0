import {conflict, failed, notFound, rows, unavailable, usage} from '../row.js'
import {didYouMean} from '../suggestion.js'

/** Errors of what runs tasks: a model behind an inference server, or a command template of the workspace. */
export const processorErrors = rows(() => ({
  task_run_failed: failed({
    http: 422,
    message: (p: {
      reason: string
      exitCode?: number | undefined
      /** Its last lines. */
      stderr?: readonly string[] | undefined
    }) => `The task was not done: ${p.reason}${p.stderr?.length ? `: ${p.stderr.join(' / ')}` : ''}.`,
    hint: 'Put right what the sentence names, then retry the task.',
  }),
  inference_protocol: unavailable({
    http: 502,
    message: (p: {url: string; reason: string}) => `${p.url} does not answer like an inference server: ${p.reason}.`,
    hint: 'Check that SVC_INFERENCE_URL names a server that has /api/generate, such as svc serve.',
  }),
  inference_failed: unavailable({
    http: 502,
    message: (p: {url: string; reason: string}) => `${p.url} gave up in the middle of an answer: ${p.reason}.`,
    hint: 'The sentence comes from the server; its log may say more.',
  }),
  exec_disabled: conflict({
    http: 403,
    message: () => 'This workspace runs no commands.',
    hint: 'Set orchestrator.exec.enabled to true in Svc.toml to allow its templates.',
  }),
  exec_template_missing: usage({
    message: () => 'The task names no command template.',
    hint: 'Name one of orchestrator.exec.templates in Svc.toml.',
    param: () => 'exec.template',
  }),
  exec_template_unknown: notFound({
    message: (p: {template: string; suggestion?: string | undefined}) =>
      `There is no command template ${p.template}.${didYouMean(p.suggestion)}`,
    hint: 'Templates are written under orchestrator.exec.templates in Svc.toml.',
    param: () => 'exec.template',
  }),
  exec_template_invalid: usage({
    http: 500,
    message: (p: {template: string; reason: string}) =>
      `The command template ${p.template} cannot be run: ${p.reason}.`,
    hint: 'Change it under orchestrator.exec.templates in Svc.toml.',
  }),
  exec_params_missing: usage({
    message: (p: {template: string; names: readonly string[]}) =>
      `The command template ${p.template} needs a value for ${p.names.join(', ')}.`,
    hint: 'Give every placeholder of the template a value in exec.params.',
    param: () => 'exec.params',
  }),
  exec_params_unused: usage({
    message: (p: {template: string; names: readonly string[]; suggestion?: string | undefined}) =>
      `The command template ${p.template} has no placeholder ${p.names.join(', ')}.${didYouMean(p.suggestion)}`,
    hint: 'Leave out of exec.params what the template does not use.',
    param: () => 'exec.params',
  }),
  exec_param_invalid: usage({
    message: (p: {template: string; name: string; reason: string}) =>
      `The value of ${p.name} does not suit the command template ${p.template}: ${p.reason}.`,
    hint: 'Change the value and submit the task again.',
    param: () => 'exec.params',
  }),
}))
