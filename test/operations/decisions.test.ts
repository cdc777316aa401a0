import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {clearDecision, typedDecision} from '../../src/contracts/index.js'
import {isErrorOf} from '../../src/errors/index.js'
import {type Call, createCall, type OperationContext, operationNamed} from '../../src/operations/index.js'
import {doubtForm, openQuestionOf, questionForm} from '../../src/operations/open-question.js'
import {unclear} from '../support/unclear.js'
import {openContext} from './support/open-context.js'

const submission = {description: 'Write it', processor: 'external'} as const

/** A decision of a person: prepares what is decided on. Returns a call, and its parameters for a value. */
interface Decision {
  prepare(context: OperationContext): unknown
  operation: string
  params(value: unknown): object
  /** How a value that is not a decision is refused; default: as invalid parameters. */
  code?: 'params_invalid' | 'question_invalid' | 'usage'
  values?: readonly unknown[]
}

const doubted = ({modules, orchestrator}: OperationContext) => {
  modules.tasks.submitTask(orchestrator, submission)
  modules.tasks.doubtTask(orchestrator, 1, 'Is it?')
}
const approval = ({modules, orchestrator}: OperationContext) =>
  modules.tasks.submitTask(orchestrator, {...submission, requires_approval: true})
const assumption = ({modules, orchestrator}: OperationContext) =>
  modules.tasks.askQuestion(orchestrator, {prompt: 'Keep it?', session_id: 's', question_kind: 'assumption_confirm'})

const decisions: Readonly<Record<string, Decision>> = {
  'the resolution of a doubt': {
    prepare: doubted,
    operation: 'resolve_doubt',
    params: (validated) => ({task_id: 1, validated, report: 'Examined.'}),
  },
  'an approval with another member': {
    prepare: approval,
    operation: 'approve_task',
    params: (approved) => ({task_id: 1, approved}),
  },
  'an approval by nobody': {
    prepare: approval,
    operation: 'approve_task',
    params: (by) => ({task_id: 1, by}),
    values: [' ', '\t\n'],
    code: 'usage',
  },
  'the confirmation of an assumption': {
    prepare: assumption,
    operation: 'answer_question',
    params: (answer) => ({question_id: 'Q-0001', answer}),
    values: unclear.filter((value) => typeof value !== 'string'),
  },
  'the confirmation of an assumption by a text': {
    prepare: assumption,
    operation: 'answer_question',
    params: (answer) => ({question_id: 'Q-0001', answer}),
    values: ['true', 'false', 'y', 'no, but', ' '],
    code: 'question_invalid',
  },
  'the confirmation of what was said': {
    prepare: () => undefined,
    operation: 'listen',
    params: (confirmed) => ({path: 'a.wav', confirmed}),
  },
}

/** Everything that a decision could change. */
const stateOf = ({modules, orchestrator}: OperationContext) => [
  modules.tasks.listTasks(orchestrator),
  modules.tasks.pendingQuestions(orchestrator, {answered: true}),
]

describe('a decision of a person', () => {
  for (const [name, {prepare, operation, params, code = 'params_invalid', values = unclear}] of Object.entries(
    decisions,
  ))
    it(`is refused if it is neither yes nor no: ${name}`, async (t: TestContext) => {
      const context = await openContext(t)
      prepare(context)
      const before = stateOf(context)
      const call: Call = createCall(operationNamed(operation), operation)
      for (const value of values)
        await assert.rejects(
          async () => call.perform(params(value), context),
          (error) => isErrorOf(error, code),
          JSON.stringify(value),
        )
      assert.deepEqual(stateOf(context), before)
    })

  it('has no default in a form, and changes nothing if it is unclear', async (t) => {
    const context = await openContext(t)
    doubted(context)
    approval(context)
    const {tasks} = context.modules
    for (const id of [1, 2]) {
      const question = openQuestionOf(context, tasks.requireTask(context.orchestrator, id))
      assert.doesNotMatch(JSON.stringify(question?.question.schema), /"default"/)
      const before = stateOf(context)
      for (const value of unclear) question?.answer({validated: value, approve: value, report: 'Examined.'})
      assert.deepEqual(stateOf(context), before)
    }
    assert.deepEqual((questionForm(assumption(context)).schema.properties as {answer: {enum: unknown}}).answer.enum, [
      'Yes',
      'No',
    ])
    assert.equal(typeof doubtForm(tasks.requireTask(context.orchestrator, 1)).message, 'string')
  })

  it('is a boolean, or typed as a word', () => {
    assert.deepEqual(
      unclear.map(clearDecision),
      unclear.map(() => undefined),
    )
    assert.deepEqual([true, false].map(clearDecision), [true, false])
    const typed = ['y', ' YES ', 'n', 'No', '', 'yess', 'true', '1', undefined].map(typedDecision)
    assert.deepEqual(typed, [true, true, false, false, undefined, undefined, undefined, undefined, undefined])
  })
})
