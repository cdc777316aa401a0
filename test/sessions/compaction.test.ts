import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {type Compaction, dueCompaction} from '../../src/sessions/compaction.js'
import {openSessions} from '../../src/sessions/index.js'
import {openTestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'

/** A turn of 100 tokens, which are 300 bytes. */
const turn = (letter: string) => ({role: 'user', content: letter.repeat(300), tokens: 0, at: 1})
const turns = [...'abcdefghij'].map(turn)

const compaction: Compaction = {
  maxContextTokens: 1000,
  reservedTokens: 100,
  compactionThreshold: 0.5,
  minViableTokens: 200,
  strategy: 'balanced',
  headPreserveTokens: 200,
  tailPreserveTokens: 300,
}
const due = (change: Partial<Compaction> = {}, of = turns) => dueCompaction(of, {...compaction, ...change})

describe('the compaction of a session', () => {
  it('keeps the first and last turns within their tokens', () => {
    assert.deepEqual(due(), {head: 2, tail: 3})
  })

  for (const [setting, change, expected] of [
    ['strategy recent', {strategy: 'recent'}, {head: 0, tail: 3}],
    ['strategy full', {strategy: 'full'}, {head: 0, tail: 0}],
    ['strategy off', {strategy: 'off'}, undefined],
    ['a larger context', {maxContextTokens: 3000}, undefined],
    ['more reserved tokens', {maxContextTokens: 3000, reservedTokens: 2000}, {head: 2, tail: 3}],
    ['a higher threshold', {maxContextTokens: 1200, compactionThreshold: 1}, undefined],
    ['a larger minimum', {minViableTokens: 600}, undefined],
    ['a longer head', {headPreserveTokens: 450}, {head: 4, tail: 3}],
    ['a longer tail', {tailPreserveTokens: 500}, {head: 2, tail: 5}],
    ['head and tail that cover everything', {headPreserveTokens: 9000}, undefined],
  ] as const)
    it(`depends on ${setting}`, () => {
      assert.deepEqual(due(change), expected)
    })

  it('happens when a turn exceeds the threshold, also after the session is read again', async (t) => {
    const toml = `[orchestrator.compaction]
max_context_tokens = 1000
reserved_tokens = 100
compaction_threshold = 0.5
min_viable_tokens = 100
head_preserve_tokens = 100
tail_preserve_tokens = 200
`
    const orchestrator = await openTestOrchestrator(t, {toml})
    const sessions = openSessions(orchestrator)
    const {id} = sessions.create('core')
    for (const each of turns.slice(0, 4)) sessions.addTurn(id, each)
    assert.equal(sessions.load(id).state, 'active')
    const session = sessions.addTurn(id, turn('e'))
    assert.equal(session.state, 'compacted')
    const shown = session.turns.map(({role, content}) => `${role} ${content[0]}`)
    assert.deepEqual(shown, ['user a', 'system u', 'user d', 'user e'])
    assert.match(session.turns[1]?.content ?? '', /^user: b+…\nuser: c+…$/)
    assert.deepEqual(openSessions(orchestrator).load(id), session)
  })
})
