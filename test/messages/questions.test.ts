import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {answerAgent, askAgent, pendingAgentQuestions, readInbox} from '../../src/messages/index.js'
import {spawnAgent} from '../../src/orchestrator/index.js'
import {openTestOrchestrator, refused} from '../orchestrator/support/open-test-orchestrator.js'
import {giveSession} from './support/agents.js'

async function open(t: TestContext) {
  const orchestrator = await openTestOrchestrator(t)
  for (const name of ['anna', 'bert']) spawnAgent(orchestrator, {name})
  return orchestrator
}

const question = {from: 'anna', to: 'bert', question: 'Which port?'}

describe('questions between agents', () => {
  it('wait in the inbox of the agent until it answers', async (t) => {
    const orchestrator = await open(t)
    const asked = askAgent(orchestrator, question)
    assert.deepEqual(pendingAgentQuestions(orchestrator, 'bert'), [asked])
    assert.deepEqual(pendingAgentQuestions(orchestrator, 'anna'), [])
    const {correlation_id: correlationId} = asked
    const sent = answerAgent(orchestrator, {correlationId, answer: '8080', from: 0})
    assert.deepEqual(answerAgent(orchestrator, {correlationId, answer: '8080'}), sent)
    assert.deepEqual(pendingAgentQuestions(orchestrator, 'bert'), [])
    const {messages} = readInbox(orchestrator, {agent: 'anna'}, {owner: 'test', limit: 10})
    assert.deepEqual(
      messages.map(({payload, correlation_id}) => [payload, correlation_id]),
      [['8080', correlationId]],
    )
    const {message} = refused('question_answered', () => answerAgent(orchestrator, {correlationId, answer: '9090'}))
    assert.match(message, /: 8080\.$/)
    giveSession(orchestrator, 'bert', 's-1')
    for (const answer of ['8080', '9090'])
      refused('agent_session_mismatch', () => answerAgent(orchestrator, {correlationId, answer}))
    assert.deepEqual(answerAgent(orchestrator, {correlationId, answer: '8080', sessionId: 's-1'}), sent)
  })

  it('can be asked twice', async (t) => {
    const orchestrator = await open(t)
    for (let i = 0; i < 2; i++) askAgent(orchestrator, question)
    assert.equal(pendingAgentQuestions(orchestrator, 'bert').length, 2)
  })

  it('are answered only by the agent that was asked', async (t) => {
    const orchestrator = await open(t)
    const {correlation_id: correlationId} = askAgent(orchestrator, question)
    refused('question_not_found', () => answerAgent(orchestrator, {correlationId, answer: 'x', from: 'anna'}))
    refused('question_not_found', () => answerAgent(orchestrator, {correlationId: 'question-1', answer: 'x'}))
    refused('message_invalid', () => answerAgent(orchestrator, {correlationId, answer: ' '}))
    refused('message_invalid', () => askAgent(orchestrator, {...question, to: 'anna'}))
    refused('agent_not_found', () => askAgent(orchestrator, {...question, to: 'carl'}))
  })
})
