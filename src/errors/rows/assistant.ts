import {failed, notFound, rows, usage} from '../row.js'

/** @param what the model did instead of writing a program */
const noProgram =
  (what: string) =>
  ({attempts, model, reason}: {attempts: number; category: string; model: string; reason: string}) =>
    `The model ${model} ${what}, in ${attempts === 1 ? 'one attempt' : `${attempts} attempts`}: ${reason}.`

/** Errors of chats and of generated code. */
export const assistantErrors = rows(() => ({
  context_file_unusable: usage({
    message: (p: {path: string; reason: string}) => `Cannot use the context file ${p.path}: ${p.reason}.`,
    hint: 'Omit the file, or pass another one.',
    param: () => 'context_files',
  }),
  context_file_missing: notFound({
    message: (p: {path: string}) => `Context file not found: ${p.path}.`,
    hint: 'Omit the file, or pass another one.',
    param: () => 'context_files',
  }),
  answer_empty: failed({
    http: 422,
    message: (p: {model: string}) => `The model ${p.model} returned an empty answer.`,
    hint: 'Retry, or use another model.',
  }),
  answer_not_json: failed({
    http: 422,
    message: (p: {model: string; attempts: number; reason: string; cut: boolean}) =>
      `The model ${p.model} did not return JSON in ${p.attempts === 1 ? 'one attempt' : 'two attempts'}: ${p.reason}.`,
    hint: ({cut}) =>
      cut
        ? 'Request less at once, or allow more tokens with SVC_INFERENCE_MAX_TOKENS.'
        : 'Describe the expected JSON in the prompt, or use another model.',
  }),
  surface_contract: failed({
    http: 422,
    message: noProgram('returned no program in the requested form'),
    hint: 'Use the output surface mode fenced_transport, or another model.',
  }),
  repair_stalled: failed({
    http: 422,
    message: noProgram('repeated the same errors'),
    hint: 'Describe in the prompt how to avoid these errors, or use another model.',
  }),
  validation_failed: failed({
    http: 422,
    message: noProgram('wrote no valid program'),
    hint: 'Request less at once, or allow more retries.',
  }),
}))
