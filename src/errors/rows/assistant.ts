import {failed, notFound, rows, usage} from '../row.js'

/** @param what the model did instead of writing a program */
const noProgram =
  (what: string) =>
  ({attempts, model, reason}: {attempts: number; category: string; model: string; reason: string}) =>
    `The model ${model} ${what}, in ${attempts === 1 ? 'one attempt' : `${attempts} attempts`}: ${reason}.`

/** Errors of chats and of code that a model writes. */
export const assistantErrors = rows(() => ({
  context_file_unusable: usage({
    message: (p: {path: string; reason: string}) => `The model cannot read ${p.path}: ${p.reason}.`,
    hint: 'Leave the file out, or name another one.',
    param: () => 'context_files',
  }),
  context_file_missing: notFound({
    message: (p: {path: string}) => `The model cannot read ${p.path}: there is no such file.`,
    hint: 'Leave the file out, or name another one.',
    param: () => 'context_files',
  }),
  answer_empty: failed({
    http: 422,
    message: (p: {model: string}) => `The model ${p.model} answered nothing.`,
    hint: 'Ask again, or ask another model.',
  }),
  answer_not_json: failed({
    http: 422,
    message: (p: {model: string; attempts: number; reason: string; cut: boolean}) =>
      `The model ${p.model} was asked for JSON ${p.attempts === 1 ? 'once' : 'twice'}, and gave none: ${p.reason}.`,
    hint: ({cut}) =>
      cut
        ? 'Ask for less at once, or allow more tokens with SVC_INFERENCE_MAX_TOKENS.'
        : 'Say in the prompt which members the JSON should have, or ask another model.',
  }),
  surface_contract: failed({
    http: 422,
    message: noProgram('gave no program in the form that was asked for'),
    hint: 'Ask with the output surface mode fenced_transport, or ask another model.',
  }),
  repair_stalled: failed({
    http: 422,
    message: noProgram('made the same errors twice running'),
    hint: 'Say in the prompt how to do without what the errors name, or ask another model.',
  }),
  validation_failed: failed({
    http: 422,
    message: noProgram('wrote no program without errors'),
    hint: 'Ask for less at once, or allow more retries.',
  }),
}))
