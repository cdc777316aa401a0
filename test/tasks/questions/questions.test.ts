import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {spawnAgent} from '../../../src/orchestrator/index.js'
import {
  answerQuestion,
  approveTask,
  askQuestion,
  cancelTask,
  closeQuestions,
  doubtTask,
  pendingQuestions,
  pruneTasks,
  type QuestionRequest,
  readEvents,
  requireNoQuestion,
  requireTask,
  resolveDoubt,
  submitTask,
} from '../../../src/tasks/index.js'
import {questionLimits} from '../../../src/tasks/questions/ask-question.js'
import {openTestOrchestrator, refused} from '../../orchestrator/support/open-test-orchestrator.js'
import {claimOf, start, submit} from '../../orchestrator/support/tasks.js'

const prompt = 'Which format?'
const options = [
  {option_id: 'json', label: 'JSON lines'},
  {option_id: 'yaml', label: 'YAML'},
]

describe('askQuestion and answerQuestion', () => {
  it('store a question until it is answered, once', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const asked = askQuestion(orchestrator, {session_id: 's1', prompt})
    assert.deepEqual([asked.question_id, asked.question_kind, asked.turn_index], ['Q-0001', 'open_ended', 0])
    assert.deepEqual(pendingQuestions(orchestrator, {sessionId: 's1'}), [asked])
    assert.deepEqual(pendingQuestions(orchestrator, {sessionId: 's2'}), [])
    const answered = answerQuestion(orchestrator, {question_id: 'q-1', answer: ' JSON '})
    assert.equal(answered.answer, 'JSON')
    assert.deepEqual(pendingQuestions(orchestrator), [])
    assert.deepEqual(pendingQuestions(orchestrator, {answered: true}), [answered])
    assert.deepEqual(answerQuestion(orchestrator, {question_id: 'Q-0001', answer: 'JSON'}), answered)
    refused('question_answered', () => answerQuestion(orchestrator, {question_id: 'Q-0001', answer: 'YAML'}))
    refused('question_not_found', () => answerQuestion(orchestrator, {question_id: 'Q-0002', answer: 'YAML'}))
    refused('question_not_found', () => answerQuestion(orchestrator, {session_id: 's1', answer: 'YAML'}))
  })

  it('answer the oldest question of a session', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    for (const each of ['One?', 'Two?']) askQuestion(orchestrator, {session_id: 's1', prompt: each})
    refused('question_not_found', () =>
      answerQuestion(orchestrator, {session_id: 's2', question_id: 'Q-0001', answer: 'x'}),
    )
    assert.equal(answerQuestion(orchestrator, {session_id: 's1', answer: 'x'}).prompt, 'One?')
    assert.equal(answerQuestion(orchestrator, {session_id: 's1', answer: 'x'}).prompt, 'Two?')
  })

  it('accept the id or label of an option, and other texts only if an option allows it', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const ask = (request: Partial<QuestionRequest>) =>
      askQuestion(orchestrator, {session_id: 's1', prompt, ...request}).question_id
    const fixed = ask({options})
    refused('question_invalid', () => answerQuestion(orchestrator, {question_id: fixed, answer: 'XML'}))
    assert.equal(answerQuestion(orchestrator, {question_id: fixed, answer: 'json LINES'}).answer, 'json')
    const open = ask({options: [...options, {option_id: 'other', label: 'Other', is_other: true}]})
    assert.equal(answerQuestion(orchestrator, {question_id: open, answer: 'XML'}).answer, 'XML')
    const confirm = ask({question_kind: 'assumption_confirm'})
    assert.equal(answerQuestion(orchestrator, {question_id: confirm, answer: 'YES'}).answer, 'yes')
  })

  it('end a clarification after three questions, and allow a new one an hour later', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const ask = () => askQuestion(orchestrator, {session_id: 's1', prompt})
    for (let i = 0; i < 3; i++) answerQuestion(orchestrator, {question_id: ask().question_id, answer: 'x'})
    assert.equal(refused('question_refused', ask).params.reason, 'max_clarification_turns')
    orchestrator.clock.ms += 3_600_000
    assert.equal(ask().turn_index, 0)
  })

  const estimates: readonly [gain: number, cost: number, reason: string][] = [
    [0.01, 0.1, 'marginal_gain_too_low'],
    [0.5, 0.9, 'user_cost_too_high'],
  ]
  for (const [gain, cost, reason] of estimates)
    it(`refuse a question that gains ${gain} bits at a cost of ${cost}`, async (t) => {
      const orchestrator = await openTestOrchestrator(t)
      const estimate = {expected_information_gain_bits: gain, expected_user_cost: cost}
      const error = refused('question_refused', () => askQuestion(orchestrator, {session_id: 's', prompt, ...estimate}))
      assert.equal(error.params.reason, reason)
      assert.deepEqual(orchestrator.store.all('SELECT * FROM question_sessions'), [])
    })

  const invalid: Readonly<Record<string, Partial<QuestionRequest>>> = {
    'has no session': {session_id: ' '},
    'has a blank prompt': {prompt: ' '},
    'has a prompt that is too long': {prompt: 'x'.repeat(questionLimits.prompt + 1)},
    'has a single option': {options: options.slice(0, 1)},
    'has too many options': {
      options: Array.from({length: questionLimits.options + 1}, (_, i) => ({option_id: `o${i}`, label: `Option ${i}`})),
    },
    'has equal options': {options: [...options, {option_id: 'JSON', label: 'Other'}]},
    'is open and has options': {question_kind: 'open_ended', options},
    'is multiple choice without options': {question_kind: 'multiple_choice'},
    'blocks no task': {blocks: true},
  }
  for (const [what, change] of Object.entries(invalid))
    it(`refuse a question that ${what}`, async (t) => {
      const orchestrator = await openTestOrchestrator(t)
      refused('question_invalid', () => askQuestion(orchestrator, {session_id: 's1', prompt, ...change}))
    })

  it('refuse a blank answer and one that is too long', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const {question_id} = askQuestion(orchestrator, {session_id: 's1', prompt})
    for (const answer of [' ', 'x'.repeat(questionLimits.answer + 1)])
      refused('question_invalid', () => answerQuestion(orchestrator, {question_id, answer}))
  })

  it('write events without the prompt and the answer', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    askQuestion(orchestrator, {session_id: 's1', prompt: 'What is the password?'})
    answerQuestion(orchestrator, {session_id: 's1', answer: 'swordfish'})
    const events = readEvents(orchestrator, {types: ['question_asked', 'question_answered']}).map(({kind}) => kind)
    assert.deepEqual(events, [
      {type: 'question_asked', question_id: 'Q-0001', question_kind: 'open_ended', session_id: 's1'},
      {type: 'question_answered', question_id: 'Q-0001', session_id: 's1'},
    ])
  })
})

describe('a task that waits for a question', () => {
  const block = (orchestrator: Parameters<typeof submit>[0], task_id: number) =>
    askQuestion(orchestrator, {task_id, prompt, options, blocks: true}).question_id

  it('is queued again with the answer in its description', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator, {session_id: 's1', idempotency_key: 'k'})
    const question = block(orchestrator, id)
    const waiting = requireTask(orchestrator, id)
    assert.deepEqual([waiting.status, waiting.status_reason], ['BlockedOnApproval', `question:${question}`])
    refused('question_pending', () => approveTask(orchestrator, id))
    answerQuestion(orchestrator, {question_id: question, answer: 'yaml'})
    const {status, status_reason, description} = requireTask(orchestrator, id)
    assert.deepEqual([status, status_reason], ['Queued', undefined])
    assert.equal(description, 'work\n\n[ANSWER]\nWhich format?\nYAML')
    assert.equal(submit(orchestrator, {session_id: 's1', idempotency_key: 'k'}), id)
  })

  it('gives up its run and its files', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    spawnAgent(orchestrator, {name: 'core'})
    const id = submit(orchestrator, {file_manifest: [{path: 'a.ts', access: 'write'}]})
    start(orchestrator, id)
    const {generation} = claimOf(orchestrator, id)
    const question = block(orchestrator, id)
    assert.deepEqual(orchestrator.store.all('SELECT * FROM orch_locks'), [])
    assert.notEqual(requireTask(orchestrator, id).generation, generation)
    refused('invalid_transition', () => block(orchestrator, id))
    answerQuestion(orchestrator, {question_id: question, answer: 'json'})
    assert.equal(requireTask(orchestrator, id).status, 'Queued')
  })

  it('can be cancelled, which closes the question', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator, {session_id: 's1'})
    const question = block(orchestrator, id)
    cancelTask(orchestrator, id)
    assert.deepEqual(pendingQuestions(orchestrator), [])
    refused('question_not_found', () => answerQuestion(orchestrator, {question_id: question, answer: 'json'}))
    assert.equal(requireTask(orchestrator, id).status, 'Cancelled')
    pruneTasks(orchestrator, {olderThanMs: 0})
    for (const table of ['question_sessions', 'question_events', 'question_options'])
      assert.deepEqual(orchestrator.store.all(`SELECT * FROM ${table}`), [], table)
  })

  it('still waits after a doubt, unless the question was answered meanwhile', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const ids = [submit(orchestrator), submit(orchestrator)]
    const questions = ids.map((id) => block(orchestrator, id))
    for (const id of ids) doubtTask(orchestrator, id)
    answerQuestion(orchestrator, {question_id: questions[1] as string, answer: 'json'})
    for (const id of ids) resolveDoubt(orchestrator, id, {validated: true, report: 'Fine.'})
    const found = ids.map((id) => requireTask(orchestrator, id))
    assert.deepEqual(
      found.map(({status}) => status),
      ['BlockedOnApproval', 'Queued'],
    )
    assert.match(found[1]?.description ?? '', /\[ANSWER\]/)
    answerQuestion(orchestrator, {question_id: questions[0] as string, answer: 'json'})
    assert.equal(requireTask(orchestrator, ids[0] as number).status, 'Queued')
  })

  it('continues when its questions are closed', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator, {session_id: 's1'})
    block(orchestrator, id)
    closeQuestions(orchestrator, {sessionId: 's1'})
    const {status, description} = requireTask(orchestrator, id)
    assert.deepEqual([status, description], ['Queued', 'work'])
  })
})

describe('requireNoQuestion', () => {
  it('names the question that the session waits for', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    askQuestion(orchestrator, {session_id: 's1', prompt})
    const error = refused('question_pending', () => requireNoQuestion(orchestrator, ' s1 '))
    assert.match(`${error.message} ${error.hint}`, /"s1".*svc orch questions answer Q-0001 TEXT/)
    for (const session of [undefined, '', 's2']) requireNoQuestion(orchestrator, session)
    assert.ok(submitTask(orchestrator, {description: 'x', session_id: 's1'}).task_id > 0)
    answerQuestion(orchestrator, {session_id: 's1', answer: 'JSON'})
    requireNoQuestion(orchestrator, 's1')
  })
})
