import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {EvidenceContext} from '../../../src/tasks/gates/evidence.js'
import {judgeEvidence} from '../../../src/tasks/gates/judge-evidence.js'
import {evidenceFromRetrieval} from '../../../src/tasks/gates/retrieval.js'
import {confidencePolicy} from '../../../src/workspace/policy.js'
import {aContext, type Facts, outcomeOf, resultOf} from './support.js'

const policy = confidencePolicy({})
const judge = (facts: Partial<EvidenceContext>, overrides = {}) =>
  judgeEvidence(aContext(facts), confidencePolicy(overrides))

/** Confidence, contradiction, band and decision. */
const summaryOf = (facts: Partial<EvidenceContext>, overrides = {}) => {
  const {confidence_estimate, contradiction_ratio, band, risk_decision} = judge(facts, overrides)
  return [confidence_estimate, contradiction_ratio, band, risk_decision].join(' ')
}

describe('the judgement of evidence', () => {
  const vectors: readonly [name: string, facts: Partial<EvidenceContext>, expected: string][] = [
    [
      'half of the citations, lexical fallback and one contradiction',
      {
        required_citations: 2,
        evidence_count: 1,
        retrieval_used_lexical_fallback: true,
        evidence_quality: 0.5,
        contradiction_hints: 1,
      },
      '0.47 0.15 medium ask',
    ],
    ['facts without evidence', {factual_mode: true, required_citations: 3}, '0 0 low abstain'],
    [
      'three contradictions with little coverage',
      {required_citations: 10, evidence_count: 9, contradiction_hints: 3, citation_coverage: 0.2},
      '0.9 0.66 medium ask',
    ],
    [
      'three contradictions with coverage',
      {required_citations: 10, evidence_count: 9, contradiction_hints: 3, citation_coverage: 0.3},
      '0.9 0.66 low abstain',
    ],
    ['no requirements', {}, '1 0 high answer'],
    [
      'facts with some of the evidence',
      {factual_mode: true, required_citations: 2, evidence_count: 1},
      '0.175 0 low abstain',
    ],
    [
      'facts with some of the evidence but full coverage',
      {factual_mode: true, required_citations: 2, evidence_count: 1, citation_coverage: 1},
      '0.35 0 medium ask',
    ],
    ['ranked retrieval', {required_citations: 2, evidence_count: 1, retrieval_tier: 'hybrid'}, '0.55 0 high answer'],
    ['lexical retrieval', {required_citations: 2, evidence_count: 1, retrieval_tier: 'BM25'}, '0.55 0 high answer'],
    ['vector retrieval', {required_citations: 2, evidence_count: 1, retrieval_tier: 'vector'}, '0.5 0 medium ask'],
    ['several sources', {required_citations: 2, evidence_count: 1, source_diversity: 2}, '0.54 0 medium ask'],
    ['one source', {required_citations: 2, evidence_count: 1, source_diversity: 1}, '0.5 0 medium ask'],
    [
      'verified evidence of good quality',
      {required_citations: 2, evidence_count: 1, verification_performed: true, evidence_quality: 0.6},
      '0.59 0 high answer',
    ],
    [
      'verified evidence of low quality',
      {required_citations: 2, evidence_count: 1, verification_performed: true, evidence_quality: 0.5},
      '0.55 0 high answer',
    ],
    ['contradictory evidence', {retrieval_diagnosis: {evidence_shape: 'contradictory'}}, '0.9 0 high answer'],
    ['empty evidence', {retrieval_diagnosis: {evidence_shape: 'empty'}}, '0.88 0 high answer'],
    ['narrow evidence', {retrieval_diagnosis: {evidence_shape: 'narrow'}}, '0.97 0 high answer'],
    ['an unknown shape', {retrieval_diagnosis: {evidence_shape: 'constructor'}}, '1 0 high answer'],
    [
      'a bonus that does not exceed 1 before a penalty',
      {retrieval_tier: 'hybrid', retrieval_used_lexical_fallback: true},
      '0.92 0 high answer',
    ],
    [
      'a penalty that does not fall below 0 before a bonus',
      {required_citations: 1, retrieval_used_lexical_fallback: true, evidence_quality: 1},
      '0.1 0 low abstain',
    ],
    ['two contradictions', {contradiction_hints: 2}, '1 0.28 high answer'],
    ['five contradictions', {contradiction_hints: 5}, '1 1 medium ask'],
    [
      'a sum at a threshold',
      {citation_coverage: 0.43, required_citations: 1, retrieval_used_lexical_fallback: true},
      '0.35 0 medium ask',
    ],
    ['reported tool calls that did not happen', {fabricated_tool_claims: ['grep']}, '0 1 low abstain'],
    ['an invalid number of citations', {evidence_count: Number.NaN, required_citations: 1}, '0 0 low abstain'],
    ['an invalid number of contradictions', {contradiction_hints: Number.NaN}, '1 1 medium ask'],
  ]
  for (const [name, facts, expected] of vectors) it(`of ${name}`, () => assert.equal(summaryOf(facts), expected))

  it('abstains after false tool reports under any policy', () => {
    assert.equal(
      summaryOf({fabricated_tool_claims: ['x']}, {abstainThreshold: 0, askForHelpThreshold: 0}),
      '0 1 low abstain',
    )
  })

  it('uses the configured thresholds', () => {
    const half = {required_citations: 2, evidence_count: 1}
    assert.equal(summaryOf(half, {askForHelpThreshold: 0.5}), '0.5 0 high answer')
    assert.equal(summaryOf(half, {abstainThreshold: 0.51}), '0.5 0 low abstain')
    assert.equal(summaryOf({contradiction_hints: 1}, {maxContradictionRatioForAnswer: 0.1}), '1 0.15 medium ask')
    assert.equal(summaryOf({...half, factual_mode: true}, {abstainThreshold: 0.1}), '0.05 0 low abstain')
  })

  it('suggests research unless the decision is to answer', () => {
    const trigger = (facts: Partial<EvidenceContext>) => judge(facts).research?.trigger
    assert.equal(trigger({}), undefined)
    assert.equal(trigger({required_citations: 1}), 'missing_citations')
    assert.equal(trigger({contradiction_hints: 3}), 'contradiction')
    assert.equal(trigger({fabricated_tool_claims: ['x']}), 'fabricated_tool_claims')
    assert.equal(
      judgeEvidence(aContext(), confidencePolicy({askForHelpThreshold: 1.1})).research?.trigger,
      'low_confidence',
    )
    assert.deepEqual(judgeEvidence(aContext({required_citations: 1}), policy, ' Why?\nBecause.').research, {
      should_research: true,
      trigger: 'missing_citations',
      suggested_query: 'Why?',
    })
  })
})

describe('the Socrates gate', () => {
  const enforce = {socratesGateEnforce: true}
  const weak = aContext({required_citations: 2, evidence_count: 1})
  const fair = aContext({required_citations: 10, evidence_count: 6})
  const relaxed = {config: {...enforce, trustGateRelaxEnabled: true}, reliability: 0.85}
  const cases: readonly [name: string, facts: Facts, outcome: string][] = [
    ['is off by default', {context: weak}, 'off'],
    ['passes without evidence context', {config: enforce}, 'pass socrates/no_evidence_context'],
    ['passes supported answers', {config: enforce, context: aContext()}, 'pass'],
    ['fails if a person must be asked', {config: enforce, context: weak}, 'fail socrates/not-supported'],
    [
      'records in shadow mode',
      {config: {socratesGateShadow: true}, context: weak},
      'shadow fail socrates/not-supported',
    ],
    [
      'enforces if both modes are set',
      {config: {...enforce, socratesGateShadow: true}, context: weak},
      'fail socrates/not-supported',
    ],
    ['exempts reliable agents', {...relaxed, context: weak}, 'relaxed socrates/not-supported'],
    ['passes fair evidence', {config: enforce, context: fair}, 'pass'],
    [
      'fails fair evidence if the agent requests strict evidence',
      {context: fair, blocksLowConfidence: true},
      'fail socrates/low-confidence',
    ],
    [
      'does not exempt agents that request strict evidence',
      {...relaxed, context: fair, blocksLowConfidence: true},
      'fail socrates/low-confidence',
    ],
    [
      'fails a contradiction if the agent requests strict evidence',
      {context: aContext({contradiction_hints: 3}), blocksLowConfidence: true},
      'fail socrates/not-supported socrates/low-confidence',
    ],
    [
      'passes two contradictions if the agent requests strict evidence',
      {context: aContext({contradiction_hints: 2}), blocksLowConfidence: true},
      'pass',
    ],
    [
      'only warns about the decision if the evidence meets the limits of the agent',
      {
        context: aContext({required_citations: 10, evidence_count: 8}),
        blocksLowConfidence: true,
        policy: {askForHelpThreshold: 0.9},
      },
      'pass socrates/not-supported',
    ],
    [
      'counts citations that the envelope contains',
      {
        config: enforce,
        context: weak,
        envelopeText: 'doc-1 and DOC-2',
        attestation: {evidence_citations: ['DOC-1', 'doc-2']},
      },
      'pass',
    ],
    [
      'does not count citations that the envelope does not contain',
      {config: enforce, context: weak, envelopeText: 'doc-1', attestation: {evidence_citations: ['doc-1', 'doc-2']}},
      'fail socrates/not-supported',
    ],
  ]
  for (const [name, facts, outcome] of cases) it(name, () => assert.equal(outcomeOf('socrates', facts), outcome))

  it('reports its numbers', () => {
    const result = resultOf('socrates', {config: enforce, context: weak})
    assert.deepEqual(result?.details, {
      risk_decision: 'ask',
      confidence_estimate: 0.5,
      contradiction_ratio: 0,
      band: 'medium',
      citation_coverage: 0,
    })
    assert.equal(
      result?.findings[0]?.message,
      'The evidence does not support the answer: confidence 0.50 (medium), contradiction 0.00, decision ask. ' +
        'Add sources, or resolve their contradictions.',
    )
  })
})

describe('the evidence of a retrieval', () => {
  it('requires a citation if nothing was found', () => {
    assert.deepEqual(evidenceFromRetrieval({}), aContext({factual_mode: true, required_citations: 1}))
  })

  it('counts the hits of all sources', () => {
    const {evidence_count, required_citations, source_diversity} =
      evidenceFromRetrieval({
        memory_hits: 2,
        knowledge_hits: [{}, {}],
        chunk_hits: 0,
        repo_hits: ['a'],
        fused_hits: 9,
      }) ?? {}
    assert.deepEqual([evidence_count, required_citations, source_diversity], [5, 0, 3])
  })

  it('counts fused hits as one', () => {
    const {evidence_count, required_citations} = evidenceFromRetrieval({fused_hits: [1, 2]}) ?? {}
    assert.deepEqual([evidence_count, required_citations], [1, 0])
  })

  it('has the other members', () => {
    assert.deepEqual(
      evidenceFromRetrieval({
        memory_hits: 1,
        tier: 'hybrid',
        used_vector: true,
        used_lexical_fallback: false,
        contradiction_hints: ['x'],
        source_diversity: 4,
        evidence_quality: 0.5,
        citation_coverage: 2,
        verification_performed: true,
        verification_reason: 'compared',
        recommended_next_action: 'answer',
        risk_budget: 'low',
        evidence_shape: 'Narrow',
        fabricated_tool_claims: ['grep', 3],
      }),
      {
        risk_budget: 'low',
        factual_mode: true,
        required_citations: 0,
        evidence_count: 1,
        contradiction_hints: 1,
        retrieval_tier: 'hybrid',
        retrieval_used_vector: true,
        retrieval_used_lexical_fallback: false,
        source_diversity: 4,
        evidence_quality: 0.5,
        citation_coverage: 1,
        verification_performed: true,
        verification_reason: 'compared',
        recommended_next_action: 'answer',
        retrieval_diagnosis: {evidence_shape: 'narrow'},
        fabricated_tool_claims: ['grep'],
      },
    )
  })

  it('accepts both names of a flag', () => {
    for (const name of ['used_lexical_fallback', 'retrieval_used_lexical_fallback'])
      assert.equal(evidenceFromRetrieval({[name]: true})?.retrieval_used_lexical_fallback, true, name)
  })

  it('ignores invalid members', () => {
    const invalid = {
      memory_hits: 'many',
      used_vector: 'yes',
      repo_hits: -3,
      evidence_quality: Number.NaN,
      tier: 3,
      retrieval_diagnosis: [],
    }
    assert.deepEqual(evidenceFromRetrieval(invalid), aContext({factual_mode: true, required_citations: 1}))
    for (const value of [undefined, null, 'text', 3, []]) assert.equal(evidenceFromRetrieval(value), undefined)
  })
})
