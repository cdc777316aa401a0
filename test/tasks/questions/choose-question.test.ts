import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {Judgement} from '../../../src/tasks/index.js'
import {chooseQuestion, type Situation, stopReason} from '../../../src/tasks/questions/choose-question.js'
import {questioningOf} from '../../../src/tasks/questions/questioning.js'
import {questioningPolicy} from '../../../src/workspace/policy.js'

const candidate = (gain: number, cost: number, prompt = '?') => ({
  question_kind: 'open_ended' as const,
  prompt,
  expected_information_gain_bits: gain,
  expected_user_cost: cost,
})

const situation: Situation = {confidence: 0.5, isRiskBlocked: false, attentionMs: 0, turns: 0}
const good = candidate(0.5, 0.5)

describe('chooseQuestion', () => {
  it('chooses the highest gain per cost within the limits', () => {
    const candidates = [
      candidate(0.4, 0.4, 'a'),
      candidate(0.3, 0.1, 'b'),
      candidate(2, 0.81, 'c'),
      candidate(0.079, 0.01, 'd'),
    ]
    const chosen = chooseQuestion(candidates)
    assert.equal(chosen?.prompt, 'b')
    assert.ok(Math.abs((chosen?.utility_bits_per_cost ?? 0) - 3) < 1e-9)
  })

  const edges: readonly [gain: number, cost: number, isChosen: boolean][] = [
    [0.08, 0.8, true],
    [0.0799, 0.8, false],
    [0.08, 0.8001, false],
    [0.08, 0, true],
  ]
  for (const [gain, cost, isChosen] of edges)
    it(`${isChosen ? 'accepts' : 'rejects'} a gain of ${gain} bits at a cost of ${cost}`, () =>
      assert.equal(chooseQuestion([candidate(gain, cost)]) !== undefined, isChosen))

  it('rates a free question as one of the minimum cost', () =>
    assert.equal(chooseQuestion([candidate(0.1, 0)])?.utility_bits_per_cost, 0.1 / questioningPolicy.minUserCost))

  it('chooses the first of equal questions', () =>
    assert.equal(chooseQuestion([candidate(0.2, 0.2, 'a'), candidate(0.4, 0.4, 'b')])?.prompt, 'a'))
})

describe('stopReason', () => {
  const cases: readonly [Partial<Situation>, readonly ReturnType<typeof candidate>[], string | undefined][] = [
    [{}, [good], undefined],
    [{confidence: 0.72}, [good], 'confidence_sufficient'],
    [{confidence: 0.7199}, [good], undefined],
    [{isRiskBlocked: true}, [good], 'risk_gate_blocked'],
    [{attentionMs: 3_600_000}, [good], 'attention_budget_exceeded'],
    [{attentionMs: 3_599_999}, [good], undefined],
    [{turns: 3}, [good], 'max_clarification_turns'],
    [{turns: 2}, [good], undefined],
    [{}, [], 'marginal_gain_too_low'],
    [{}, [candidate(0.01, 0.1), candidate(0.02, 0.9)], 'marginal_gain_too_low'],
    [{}, [candidate(0.5, 0.9), candidate(0.01, 0.1)], 'user_cost_too_high'],
    [{confidence: 1, isRiskBlocked: true, turns: 9}, [], 'confidence_sufficient'],
  ]
  for (const [change, candidates, expected] of cases)
    it(`is ${expected} for ${JSON.stringify(change)} and ${candidates.length} questions`, () =>
      assert.equal(stopReason({...situation, ...change}, candidates), expected))
})

describe('questioningOf', () => {
  const judgement = (change: Partial<Judgement>): Judgement => ({
    risk_decision: 'ask',
    confidence_estimate: 0.5,
    contradiction_ratio: 0,
    band: 'medium',
    citation_coverage: 0,
    research: {should_research: true, trigger: 'missing_citations'},
    ...change,
  })
  const none = {
    question_needed: false,
    question_kind: null,
    prompt: null,
    expected_information_gain_bits: 0,
    expected_user_cost: 0,
    utility_bits_per_cost: 0,
  }

  const kinds = {contradiction: 'multiple_choice', missing_citations: 'entry', low_confidence: 'open_ended'} as const
  for (const [trigger, kind] of Object.entries(kinds))
    it(`asks a question of the kind ${kind} if the weakness is ${trigger}`, () => {
      const research = {should_research: true as const, trigger: trigger as keyof typeof kinds}
      const questioning = questioningOf(judgement({research}), 'Which port?', {turns: 0, attentionMs: 0})
      assert.deepEqual(
        [questioning.question_needed, questioning.question_kind, questioning.stop_reason],
        [true, kind, null],
      )
      assert.equal(questioning.expected_information_gain_bits, 1)
      assert.match(questioning.prompt ?? '', /"Which port\?"/)
    })

  it('asks nothing if the evidence supports an answer', () =>
    assert.deepEqual(
      questioningOf(judgement({risk_decision: 'answer', confidence_estimate: 0.82}), '?', {turns: 0, attentionMs: 0}),
      {
        ...none,
        stop_reason: null,
      },
    ))

  it('reports why it asks nothing', () => {
    assert.deepEqual(
      questioningOf(judgement({risk_decision: 'abstain', confidence_estimate: 0.2}), '?', {turns: 0, attentionMs: 0}),
      {
        ...none,
        stop_reason: 'risk_gate_blocked',
      },
    )
    assert.equal(questioningOf(judgement({}), '?', {turns: 3, attentionMs: 0}).stop_reason, 'max_clarification_turns')
    assert.equal(
      questioningOf(judgement({confidence_estimate: 0.9}), '?', {turns: 0, attentionMs: 0}).stop_reason,
      'confidence_sufficient',
    )
  })
})
