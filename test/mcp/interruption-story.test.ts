import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {OrchAttentionV1, OrchQuestionsV1} from '../../src/contracts/index.js'
import {orchWorkspace} from '../support/orch-workspace.js'
import {connect} from './support.js'

/** Enough for the approval of one risky task, which takes 11,791 ms, and a short answer. */
const toml = '[orchestrator]\nattention_enabled = true\nattention_budget_ms = 15000\n'

describe('an agent and a person with little attention', () => {
  it('finish a task: the question waits in the inbox, the person answers it later, and the task goes on', async (t) => {
    const person = await orchWorkspace(t, toml)
    const {cwd, json, text, task, fails} = person
    const agent = await connect(t, {cwd})
    const attention = () => json<OrchAttentionV1>('cli/orch-attention.v1', ['orch', 'attention'])

    // The budget runs low: the person approves a risky task of the agent.
    await agent.call('svc_submit_task', {description: 'Delete the old table', files: [], processor: 'external'})
    assert.equal((await task(1)).status_reason, 'person_required: high_risk_or_low_confidence_requires_human')
    await agent.fails('approval_blocked', 'svc_approve_task', {task_id: 1})
    await text(['orch', 'approve', '1'])
    assert.deepEqual([(await attention()).budget.spent_ms, (await attention()).budget.signal], [11_791, 'high'])
    await text(['orch', 'cancel', '1'])

    // A question of the agent waits instead of interrupting the person.
    const work = {description: 'Explain the parser', files: [], processor: 'external', session_id: 's1'}
    await agent.call('svc_submit_task', work)
    const claim = {owner: 'agent'}
    const first = await agent.call<{generation: number}>('svc_claim_task', claim)
    const question = {prompt: 'Which parser?', options: ['old', 'new'], task_id: 2, blocks: true}
    const estimate = {expected_information_gain_bits: 0.15, expected_user_cost: 0.5}
    const asked = await agent.call<{interrupts: boolean}>('svc_questioning_ask', {...question, ...estimate})
    assert.equal(asked.interrupts, false)
    assert.deepEqual([(await task(2)).status, (await task(2)).status_reason], ['BlockedOnApproval', 'question:Q-0001'])
    await agent.fails('question_pending', 'svc_submit_task', {...work, description: 'More work'})
    await agent.fails('claim_lost', 'svc_complete_task', {task_id: 2, generation: first.generation})
    assert.equal((await attention()).budget.inbox_suppressed_count, 1)

    // The person answers, and the task continues with the answer.
    const {questions} = await json<OrchQuestionsV1>('cli/orch-questions.v1', ['orch', 'questions'])
    assert.deepEqual(
      questions.map(({prompt, options}) => [prompt, options.map(({label}) => label)]),
      [['Which parser?', ['old', 'new']]],
    )
    await text(['orch', 'questions', 'answer', 'Q-0001', 'new'])
    await fails(['orch', 'questions', 'answer', 'Q-0001', 'old'], 4, 'question_answered')
    const again = await agent.call<{generation: number; task: {description: string}}>('svc_claim_task', claim)
    assert.equal(again.task.description, 'Explain the parser\n\n[ANSWER]\nWhich parser?\nnew')
    await agent.call('svc_complete_task', {
      task_id: 2,
      generation: again.generation,
      completion_summary: 'The new parser reads one token at a time.',
      declared_non_placeholder: true,
      checks_passed: ['read'],
    })
    assert.equal((await task(2)).status, 'Completed')

    // The answer used up the attention: agents must wait until the person resets the budget.
    const {budget, events} = await attention()
    assert.deepEqual([budget.signal, events[0]?.event_type], ['critical', 'clarification_answered'])
    await agent.fails('attention_exhausted', 'svc_submit_task', work)
    await agent.fails('question_refused', 'svc_questioning_ask', {
      prompt: 'Anything else?',
      session_id: 's2',
      ...estimate,
    })
    await text(['orch', 'attention', '--reset'])
    await agent.call('svc_submit_task', work)
  })
})
