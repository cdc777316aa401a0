import {command} from '../command.js'
import {conflict, failed, interrupted, notFound, oneLine, rows, terminated, unavailable, usage} from '../row.js'
import {didYouMean} from '../suggestion.js'

export const workflowErrors = rows(() => ({
  workflow_invalid: usage({
    message: (p: {place: string; reason: string}) => `${p.place}: ${p.reason}.`,
    hint: 'Correct the workflow, and check it with `svc workflow check FILE`.',
  }),
  workflow_unknown: notFound({
    message: (p: {
      file: string
      name: string | undefined
      names: readonly string[]
      suggestion?: string | undefined
    }) =>
      p.name === undefined
        ? `${p.file} has several workflows: ${p.names.join(', ')}.`
        : `${p.file} has no workflow ${p.name}.${didYouMean(p.suggestion)}`,
    hint: 'Pass the name of one of the workflows: `svc workflow run FILE NAME`.',
  }),
  workflow_input_invalid: usage({
    message: (p: {workflow: string; name: string; reason: string}) =>
      `Invalid input ${p.name} of workflow ${p.workflow}: ${p.reason}.`,
    hint: 'Pass inputs with --input NAME=VALUE; `svc workflow list FILE` lists them.',
  }),
  workflow_run_not_found: notFound({
    message: (p: {run: string}) => `Workflow run ${p.run} does not exist in this workspace.`,
    hint: 'Run `svc workflow list` to list the runs.',
  }),
  workflow_run_id_invalid: usage({
    message: (p: {limit: number}) =>
      `The run id is blank, has control characters, or has more than ${p.limit} characters.`,
    hint: 'Pass another --run-id, or omit it.',
  }),
  workflow_run_exists: conflict({
    message: (p: {run: string}) => `Workflow run ${p.run} already exists.`,
    hint: (p: {run: string}) => `Continue it with ${command`svc workflow resume ${p.run}`}, or pass another --run-id.`,
  }),
  workflow_finished: conflict({
    message: (p: {run: string; status: string; canResume: boolean}) =>
      `Workflow run ${p.run} has ended: ${p.status}${p.status === 'failed' && !p.canResume ? ', and what it did was undone' : ''}.`,
    hint: (p: {run: string; canResume: boolean}) =>
      p.canResume
        ? `Continue it with ${command`svc workflow resume ${p.run}`}.`
        : 'Start a new run with `svc workflow run FILE`.',
  }),
  workflow_changed: conflict({
    message: (p: {run: string; workflow: string; file: string}) =>
      `Workflow ${p.workflow} in ${p.file} differs from the definition of run ${p.run}.`,
    hint: 'Pass --adopt to continue the run with the changed definition, or restore the file.',
  }),
  workflow_lease_held: conflict({
    message: (p: {run: string; pid: number; host: string}) =>
      `Lease conflict: workflow run ${p.run} is driven by process ${p.pid} on ${p.host}.`,
    hint: 'Wait until that process ends, or stop it.',
  }),
  workflow_lease_lost: conflict({
    message: (p: {run: string}) => `Another process has taken over workflow run ${p.run}.`,
    hint: (p: {run: string}) => `Run ${command`svc workflow status ${p.run}`} to see its progress.`,
  }),
  workflow_signal_invalid: usage({
    message: (p: {run: string; reason: string}) => `The signal to workflow run ${p.run} is refused: ${p.reason}.`,
    hint: 'Send a smaller payload, or wait until the run has consumed earlier signals.',
  }),
  workflow_activity_failed: failed({
    message: (p: {activity: string; reason: string}) => `${p.activity} failed: ${p.reason.replace(/\.$/, '')}.`,
    hint: 'Correct the cause, then continue the run with `svc workflow resume RUN`.',
  }),
  workflow_activity_timeout: unavailable({
    http: 504,
    message: (p: {activity: string; ms: number}) => `${p.activity} did not end within ${p.ms} ms.`,
    hint: 'Raise the timeout of the step in the workflow file.',
  }),
  workflow_host_refused: usage({
    http: 403,
    message: (p: {activity: string; host: string}) => `${p.activity} must not call ${p.host}: it is not in hosts.`,
    hint: 'Add the host to hosts in the workflow file.',
  }),
  workflow_failed: failed({
    message: (p: {run: string; reason: string; canResume: boolean}) =>
      `Workflow run ${p.run} failed: ${p.reason.replace(/\.$/, '')}.`,
    hint: (p: {run: string; canResume: boolean}) =>
      `Run ${command`svc workflow status ${p.run}`} to see its activities; ${
        p.canResume
          ? `${command`svc workflow resume ${p.run}`} tries the failed one again`
          : 'what it did was undone, so start a new run with `svc workflow run FILE`'
      }.`,
  }),
  workflow_interrupted: interrupted({
    message: (p: {run: string}) => `Workflow run ${p.run} was interrupted; its completed steps are recorded.`,
    hint: (p: {run: string}) => `Continue it with ${command`svc workflow resume ${p.run}`}.`,
  }),
  workflow_terminated: terminated({
    message: (p: {run: string}) => `Workflow run ${p.run} was terminated; its completed steps are recorded.`,
    hint: (p: {run: string}) => `Continue it with ${command`svc workflow resume ${p.run}`}.`,
  }),
  workflow_signal_unknown: usage({
    message: (p: {run: string; key: string; known: string}) =>
      `Workflow run ${p.run} has no step that waits for ${p.key}${p.known === '' ? '' : `; it has ${p.known}`}.`,
    hint: 'Pass the key of a signal, or the id of an approval, of the workflow.',
  }),
  workflow_decision_invalid: usage({
    message: (p: {run: string; key: string}) => `The payload is not a decision on the approval ${p.key} of ${p.run}.`,
    hint: 'Pass true or no payload to approve, and false or --reject REASON to reject; nothing was sent.',
  }),
  workflow_decided: conflict({
    message: (p: {run: string; key: string; approved: boolean; reason?: string}) =>
      `The approval ${p.key} of workflow run ${p.run} was already ${p.approved ? 'given' : 'rejected'}${p.reason ? `: ${oneLine(p.reason).replace(/\.$/, '')}` : ''}.`,
    hint: (p: {run: string}) => `Run ${command`svc workflow status ${p.run}`} to see its progress.`,
  }),
  workflow_cancelled: conflict({
    message: (p: {run: string}) => `Workflow run ${p.run} was cancelled.`,
    hint: 'Start a new run with `svc workflow run FILE`.',
  }),
}))
