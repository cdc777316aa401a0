import {failed, notFound, rows, unavailable, usage} from '../row.js'
import {didYouMean} from '../suggestion.js'

/** Errors of `svc launch`. */
export const launchErrors = rows(() => ({
  launch_program_unknown: usage({
    message: (p: {program: string; known: string; suggestion?: string | undefined}) =>
      `svc does not know how to launch ${p.program}.${didYouMean(p.suggestion)}`,
    hint: (p) => `The programs are ${p.known}.`,
  }),
  launch_program_missing: notFound({
    message: (p: {title: string; executable: string; install: string}) =>
      `${p.title} is not installed: no directory of PATH contains ${p.executable}.`,
    hint: (p) => `Install it, for example with ${p.install}.`,
  }),
  launch_server_failed: failed({
    message: (p: {reason: string}) => `The server for the program did not start: ${p.reason}`,
    hint: 'Correct that, or start a server separately and name it with --server.',
  }),
  launch_server_unusable: unavailable({
    message: (p: {server: string; model?: string | undefined}) =>
      p.model === undefined
        ? `${p.server} does not answer, or lists no model.`
        : `${p.server} does not answer, or does not list the model ${p.model}.`,
    hint: 'Check the address and SVC_INFERENCE_API_KEY, or omit --server to start a server for the program.',
  }),
  launch_model_ambiguous: usage({
    message: (p: {server: string; models: readonly string[]}) =>
      `No model is selected, and ${p.server} has several: ${p.models.slice(0, 5).join(', ')}.`,
    hint: (p: {models: readonly string[]}) => `Select one, as in --model ${p.models[0] ?? ''}.`,
  }),
}))
