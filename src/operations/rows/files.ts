import type {CheckMode, Fix} from '../../assistant/index.js'
import {SvcError} from '../../errors/index.js'
import type {Finding} from '../../tasks/index.js'
import type {OperationContext} from '../context.js'
import {openAssistantFor} from '../open-assistant.js'
import {type Operation, operation} from '../operation.js'
import {flag, integer, list, object, oneOf, text} from '../schema.js'

const path = text('File of the workspace, relative to its root.', {minLength: 1, maxLength: 4096})
const problem = text('What is wrong with the file, such as the message of a compiler.', {maxLength: 65_536})
const findings = list(
  object(
    {
      rule: text(),
      severity: oneOf(['info', 'warning', 'error', 'critical']),
      path: text(),
      line: integer(undefined, {minimum: 1}),
      message: text(),
    },
    {required: ['rule', 'severity', 'message']},
  ),
)
const model = text('Model that answered.')

/** Ids of a call, for the records of its model calls. */
function callOf({modules, orchestrator, surface}: OperationContext) {
  const {journey_id: journeyId} = modules.journeys.journeyEnvelope(
    {},
    {repositoryId: orchestrator.repositoryId, surface},
  )
  return {journeyId}
}

/** @throws params_invalid if a text is blank */
function requireText(name: string, member: string, value: string): void {
  if (value.trim() === '')
    throw new SvcError('params_invalid', {operation: name, violations: [`/${member} must not be blank`]})
}

/** Checks, reviews and fixes of workspace files, and texts from a model. */
export const fileOperations: readonly Operation[] = [
  operation<
    {path: string; mode?: CheckMode},
    {ok: boolean; files_scanned: number; findings: Finding[]; is_partial: boolean; repository_id: string}
  >({
    name: 'check_files',
    title: 'Check files',
    summary: 'Check a file or a folder for errors of programs, stubs, secrets and similar defects.',
    effect: 'read',
    idempotent: true,
    input: object(
      {
        path: text('File or folder, relative to the workspace root; . is the whole workspace.', {
          minLength: 1,
          maxLength: 4096,
        }),
        mode: oneOf(['all', 'program', 'scan'], 'Only programs, only the scan, or both; default: all.'),
      },
      {required: ['path']},
    ),
    output: object(
      {
        ok: flag('No finding is an error.'),
        files_scanned: integer(),
        findings,
        is_partial: flag('There are too many files or findings; only the first ones were examined.'),
        repository_id: text(),
      },
      {required: ['ok', 'files_scanned', 'findings', 'is_partial', 'repository_id']},
    ),
    bindings: {rpc: {method: 'ai.check'}},
    async run({path: place, mode = 'all'}, {orchestrator, signal}) {
      const {checkPath} = await import('../../assistant/index.js')
      const checked = await checkPath(orchestrator.root, place, {mode, signal})
      return {
        ok: checked.ok,
        files_scanned: checked.filesScanned,
        findings: checked.findings,
        is_partial: checked.isPartial,
        repository_id: orchestrator.repositoryId,
      }
    },
  }),
  operation<{path: string; diff?: string}, {review: string; model: string}>({
    name: 'review_file',
    title: 'Review a file',
    summary: 'Review a file, or a change of it, with a model.',
    effect: 'write',
    idempotent: false,
    openWorld: true,
    input: object(
      {path, diff: text('Change of the file to review; default: the whole file.', {minLength: 1, maxLength: 262_144})},
      {required: ['path']},
    ),
    output: object({review: text(), model}, {required: ['review', 'model']}),
    bindings: {rpc: {method: 'ai.review'}},
    async run(input, context) {
      const {reviewFile} = await import('../../assistant/index.js')
      const assistant = await openAssistantFor(context)
      const {text: review, model: name} = await reviewFile(assistant, input, callOf(context), context.signal)
      return {review, model: name}
    },
  }),
  operation<{path: string; error?: string; write?: boolean}, Fix>({
    name: 'fix_file',
    title: 'Fix a file',
    summary: 'Fix a file with a model, check the result, and replace the file only if asked to.',
    effect: 'destructive',
    idempotent: false,
    openWorld: true,
    input: object(
      {path, error: problem, write: flag('Replace the file if the fix has no errors; default: false.')},
      {required: ['path']},
    ),
    output: object(
      {
        path: text(),
        fixed: flag('The fix differs from the file, and its check finds no errors.'),
        written: flag('The file was replaced.'),
        content: text('The complete fixed file.'),
        findings,
        model,
      },
      {required: ['path', 'fixed', 'written', 'content', 'findings', 'model']},
    ),
    bindings: {rpc: {method: 'ai.fix'}},
    async run({path: place, error, write = false}, context) {
      const {fixFile} = await import('../../assistant/index.js')
      const assistant = await openAssistantFor(context)
      return fixFile(assistant, {path: place, error, write}, callOf(context), context.signal)
    },
  }),
  operation<{prompt: string; mode?: 'text' | 'json'}, {text: string; model: string}>({
    name: 'generate_text',
    title: 'Generate text',
    summary: 'Generate a text with the configured model; nothing is stored but the figures of the call.',
    effect: 'write',
    idempotent: false,
    openWorld: true,
    input: object(
      {
        prompt: text(undefined, {minLength: 1, maxLength: 262_144}),
        mode: oneOf(['text', 'json'], 'Form of the answer; default: text. Not every server supports json.'),
      },
      {required: ['prompt']},
    ),
    output: object({text: text(), model}, {required: ['text', 'model']}),
    bindings: {rpc: {method: 'ai.generate'}},
    async run({prompt, mode = 'text'}, context) {
      requireText('generate_text', 'prompt', prompt)
      const {generateText} = await import('../../assistant/index.js')
      const assistant = await openAssistantFor(context)
      return generateText(assistant, {prompt, isJson: mode === 'json'}, callOf(context), context.signal)
    },
  }),
]
