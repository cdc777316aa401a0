import {failed, notFound, rows, usage} from '../row.js'

/** @param what the model did instead of returning a valid program */
const noProgram =
  (what: string) =>
  ({attempts, model, reason}: {attempts: number; category: string; model: string; reason: string}) =>
    `The model ${model} ${what}${attempts === 1 ? '' : ` in ${attempts} attempts`}: ${reason}.`

/** Errors of chats and of generated code. */
export const assistantErrors = rows(() => ({
  context_file_unusable: usage({
    message: (p: {path: string; reason: string}) => `Cannot use the context file ${p.path}: ${p.reason}.`,
    hint: 'Remove the file from context_files, or use another file.',
    param: () => 'context_files',
  }),
  context_file_missing: notFound({
    message: (p: {path: string}) => `The context file ${p.path} does not exist.`,
    hint: 'Remove the file from context_files, or use another file.',
    param: () => 'context_files',
  }),
  answer_empty: failed({
    http: 422,
    message: (p: {model: string}) => `The model ${p.model} returned an empty answer.`,
    hint: 'Send the message again, or use another model.',
  }),
  fix_unusable: failed({
    http: 422,
    message: (p: {model: string; reason: string}) =>
      `The answer of the model ${p.model} is not one complete file: ${p.reason}.`,
    hint: 'Call again, or use a larger model.',
  }),
  answer_not_json: failed({
    http: 422,
    message: (p: {model: string; attempts: number; reason: string; cut: boolean}) =>
      `The model ${p.model} returned no valid JSON${p.attempts === 1 ? '' : ` in ${p.attempts} attempts`}: ${p.reason}.`,
    hint: ({cut}) =>
      cut
        ? 'Ask for a shorter answer, or allow more tokens with SVC_INFERENCE_MAX_TOKENS.'
        : 'List the expected JSON keys in the prompt, or use another model.',
  }),
  surface_contract: failed({
    http: 422,
    message: noProgram('returned no program in the requested output format'),
    hint: 'Ask for the program in one fenced code block (output_surface_mode fenced_transport), or use another model.',
  }),
  repair_stalled: failed({
    http: 422,
    message: noProgram('repeated the same errors'),
    hint: 'Describe in the prompt how to avoid these errors, or use another model.',
  }),
  validation_failed: failed({
    http: 422,
    message: noProgram('returned only programs with errors'),
    hint: 'Ask for a smaller program, or raise max_retries.',
  }),
}))
