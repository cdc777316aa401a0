import {conflict, failed, notFound, rows, unavailable, usage} from '../row.js'
import {didYouMean} from '../suggestion.js'

/** Errors of the processors of tasks: a model on an inference server, or a command template of the workspace. */
export const processorErrors = rows(() => ({
  task_run_failed: failed({
    http: 422,
    message: (p: {
      reason: string
      exitCode?: number | undefined
      /** Last lines of standard error. */
      stderr?: readonly string[] | undefined
    }) => `The task failed: ${p.reason}${p.stderr?.length ? ` (${p.stderr.join(' / ')})` : ''}.`,
    hint: 'Fix the cause, then retry the task with `svc orch retry TASK`.',
  }),
  inference_protocol: unavailable({
    http: 502,
    message: (p: {url: string; reason: string}) => `${p.url} is not a compatible inference server: ${p.reason}.`,
    hint: 'Set SVC_INFERENCE_URL to a server that has /api/generate, such as `svc serve --model MODEL`.',
  }),
  inference_profile_offline: unavailable({
    message: (p: {profile: string}) => `The inference profile ${p.profile} has no server that svc could call.`,
    hint: 'Set SVC_INFERENCE_PROFILE to desktop_ollama, lan_gateway or cloud_openai_compatible.',
  }),
  inference_failed: unavailable({
    http: 502,
    message: (p: {url: string; reason: string}) => `${p.url} aborted its response: ${p.reason}.`,
    hint: 'Check the log of the server, then retry the task.',
  }),
  exec_secret_unlisted: conflict({
    message: (p: {name: string; suggestion?: string | undefined}) =>
      `The secret ${p.name} is not in orchestrator.exec.secrets.${didYouMean(p.suggestion)}`,
    hint: 'Add it to secrets under [orchestrator.exec] in Svc.toml of the machine that runs the command.',
    param: () => 'exec.secrets',
  }),
  exec_secret_missing: conflict({
    message: (p: {names: readonly string[]}) => `The secrets of the task have no value: ${p.names.join(', ')}.`,
    hint: 'Set the environment variables of these names for the daemon, then retry the task.',
  }),
  exec_user_unusable: conflict({
    message: (p: {user: string; reason: string}) => `Commands cannot run as the user ${p.user}: ${p.reason}.`,
    hint: 'Correct orchestrator.exec.user in ~/.svc/config.toml, or run the daemon as root.',
  }),
  exec_disabled: conflict({
    http: 403,
    message: () => 'Commands are disabled in this workspace.',
    hint: 'Set orchestrator.exec.enabled to true in Svc.toml.',
  }),
  exec_template_missing: usage({
    message: () => 'The task names no command template.',
    hint: 'Pass --exec NAME with a template of orchestrator.exec.templates; `svc orch config` lists them.',
    param: () => 'exec.template',
  }),
  exec_template_unknown: notFound({
    message: (p: {template: string; suggestion?: string | undefined}) =>
      `Svc.toml defines no command template ${p.template} under [orchestrator.exec.templates].${didYouMean(p.suggestion)}`,
    hint: 'Use a template that `svc orch config` lists, or define it in Svc.toml of the machine that runs the command.',
    param: () => 'exec.template',
  }),
  exec_template_invalid: usage({
    http: 500,
    message: (p: {template: string; reason: string}) => `The command template ${p.template} is invalid: ${p.reason}.`,
    hint: 'Correct the template under orchestrator.exec.templates in Svc.toml.',
  }),
  exec_params_missing: usage({
    message: (p: {template: string; names: readonly string[]}) =>
      `The command template ${p.template} requires a value for ${p.names.join(', ')}.`,
    hint: 'Pass a value for every placeholder with --param NAME=VALUE, or in exec.params.',
    param: () => 'exec.params',
  }),
  exec_params_unused: usage({
    message: (p: {template: string; names: readonly string[]; suggestion?: string | undefined}) =>
      `The command template ${p.template} has no placeholder ${p.names.join(', ')}.${didYouMean(p.suggestion)}`,
    hint: 'Remove the value from --param or exec.params, or correct its name.',
    param: () => 'exec.params',
  }),
  exec_param_invalid: usage({
    message: (p: {template: string; name: string; reason: string}) =>
      `The value of ${p.name} is not allowed in the command template ${p.template}: ${p.reason}.`,
    hint: 'Change the value, or correct the template, then submit the task again.',
    param: () => 'exec.params',
  }),
}))
