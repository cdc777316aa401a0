import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {OrchQuestionsV1} from '../../src/contracts/index.js'
import {askQuestion, requireTask, submitTask} from '../../src/tasks/index.js'
import {openTestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {orchWorkspace} from '../support/orch-workspace.js'

const contract = 'cli/orch-questions.v1'
const options = [
  {option_id: 'json', label: 'JSON'},
  {option_id: 'yaml', label: 'YAML'},
]

describe('svc orch questions', () => {
  it('lists and answers the questions of agents', async (t) => {
    const {cwd, json, text, fails, task} = await orchWorkspace(t)
    assert.equal(await text(['orch', 'questions']), 'No questions.\n')
    const orchestrator = await openTestOrchestrator(t, {root: cwd, clock: 'real'})
    const {task_id} = submitTask(orchestrator, {description: 'work', session_id: 's1'})
    askQuestion(orchestrator, {task_id, prompt: 'Which format?', options, blocks: true})
    const {questions} = await json<OrchQuestionsV1>(contract, ['orch', 'questions', '--session-id', 's1'])
    assert.deepEqual(
      questions.map(({question_id, prompt}) => [question_id, prompt]),
      [['Q-0001', 'Which format?']],
    )
    assert.match(await text(['orch', 'questions']), /Q-0001 +s1 +T-0001 +json\|yaml +Which format\?/)
    await fails(['orch', 'approve', '1'], 4, 'question_pending')
    await fails(['orch', 'questions', 'answer', 'Q-0001', 'xml'], 2, 'question_invalid')
    const answered = await json<OrchQuestionsV1>(contract, ['orch', 'questions', 'answer', '1', 'yaml'])
    assert.equal(answered.questions[0]?.answer, 'yaml')
    assert.deepEqual(await json<OrchQuestionsV1>(contract, ['orch', 'questions', 'answer', '1', 'YAML']), answered)
    const other = await fails(['orch', 'questions', 'answer', 'Q-0001', 'json'], 4, 'question_answered')
    assert.match(other, /already been answered: YAML\.$/)
    await fails(['orch', 'questions', 'answer', 'Q-0002', 'yaml'], 3, 'question_not_found')
    assert.equal((await task(1)).status, requireTask(orchestrator, 1).status)
    assert.equal((await task(1)).status, 'Queued')
  })
})
