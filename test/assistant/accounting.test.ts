import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {generateCode, sendMessage} from '../../src/assistant/index.js'
import {inTurn, scriptedChat} from '../support/scripted-inference.js'
import {journeyOf, kept, nowMs, openTestAssistant, refused, unstopped} from './support/open-test-assistant.js'

describe('records of model usage', () => {
  it('contain each call but none of its text', async (test) => {
    const {baseUrl: url} = await scriptedChat(test, inTurn('Seven is one.', '@table type Secret { title: str }'))
    const opened = await openTestAssistant(test, {url})
    await sendMessage(opened.assistant, {prompt: 'A secret question'}, journeyOf({trace_id: 'trace-9'}), unstopped)
    await generateCode(
      opened.assistant,
      {prompt: 'A secret table', journeyId: 'j', sessionId: 's', surface: 'mcp'},
      unstopped,
    )
    const {interactions} = kept(opened)
    for (const row of interactions) assert.ok(Number(row.latency_ms) >= 0)
    assert.deepEqual(
      interactions.map(({latency_ms: _, ...row}) => row),
      [
        {
          id: 1,
          repository_id: 'repo-1',
          session_id: 'default',
          trace_id: 'trace-9',
          model_version: 'run-a',
          task_category: 'general',
          success: 1,
          input_tokens: 100,
          output_tokens: 10,
          cost_usd: 0.11,
          created_at_ms: nowMs,
        },
        {
          id: 2,
          repository_id: 'repo-1',
          session_id: 's',
          trace_id: null,
          model_version: 'run-a',
          task_category: 'codegen',
          success: 1,
          input_tokens: 100,
          output_tokens: 20,
          cost_usd: 0.12,
          created_at_ms: nowMs,
        },
      ],
    )
    assert.doesNotMatch(JSON.stringify(interactions), /secret|Seven/i)
  })

  it('use the correlation id if there is no trace id', async (test) => {
    const {baseUrl: url} = await scriptedChat(test, inTurn('Yes.'))
    const opened = await openTestAssistant(test, {url})
    await sendMessage(opened.assistant, {prompt: 'Well?'}, journeyOf({correlation_id: 'c-1'}), unstopped)
    assert.equal(kept(opened).interactions[0]?.trace_id, 'c-1')
  })

  it('are preceded by one choice of model per request, by kind of work', async (test) => {
    const {baseUrl: url} = await scriptedChat(test, inTurn('Yes.', 'no', '@table type Note { title: str }'))
    const opened = await openTestAssistant(test, {url})
    await sendMessage(opened.assistant, {prompt: 'Well?'}, journeyOf({cognitive_profile: 'reasoning'}), unstopped)
    await generateCode(opened.assistant, {prompt: 'A table', journeyId: 'j', surface: 'mcp'}, unstopped)
    assert.deepEqual(
      opened.works.map(({surface, category, complexity, economy, journeyId}) => [
        surface,
        category,
        complexity,
        economy,
        journeyId,
      ]),
      [
        ['chat_message', 'general', 9, false, 'journey-1'],
        ['generate_code', 'codegen', 5, false, 'j'],
      ],
    )
  })
})

describe('cost events', () => {
  const cases: readonly [string, string | undefined, boolean, boolean][] = [
    ['are emitted if the variable is 1', '1', true, true],
    ['are emitted if the variable is TRUE', 'TRUE', true, true],
    ['are not emitted if the variable is 0', '0', false, false],
    ['are not emitted if the variable is false', 'false', false, false],
    ['are not emitted by default with a persistent store', undefined, true, false],
    ['are emitted by default with a store in memory', undefined, false, true],
    ['are emitted for an invalid value with a store in memory', 'sometimes', false, true],
    ['are not emitted for an invalid value with a persistent store', 'sometimes', true, false],
  ]
  for (const [name, value, isKept, expected] of cases)
    it(name, async (test) => {
      const {baseUrl: url} = await scriptedChat(test, inTurn('Seven.'))
      const env = value === undefined ? {} : {SVC_MCP_LLM_COST_EVENTS: value}
      const opened = await openTestAssistant(test, {url, env, isKept})
      await sendMessage(opened.assistant, {prompt: 'Name a prime number.'}, journeyOf(), unstopped)
      const event = {provider: 'local', model: 'run-a', inputTokens: 100, outputTokens: 10, costUsd: 0.11}
      assert.deepEqual(opened.costs, expected ? [event] : [])
      assert.equal(kept(opened).interactions.length, 1)
    })

  it('are not emitted for failed calls', async (test) => {
    const opened = await openTestAssistant(test, {env: {SVC_MCP_LLM_COST_EVENTS: '1'}})
    await refused('unreachable', sendMessage(opened.assistant, {prompt: 'Hello?'}, journeyOf(), unstopped))
    assert.deepEqual(opened.costs, [])
  })
})
