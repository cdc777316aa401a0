import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {submitSignals} from '../../../src/tasks/attention/submit-signals.js'
import {approvalTier, outcomeEntropy, type TierFactors, tierWithMarker} from '../../../src/tasks/attention/tier.js'

const policy = {
  trustAutoApproveMin: 0.85,
  tierGate: {
    entropyAutoApproveThreshold: 0.15,
    autoApproveMinObservations: 10,
    autoApproveMinTrust: 0.85,
    untrustedMaxWritesBeforeBlock: 3,
    trustedSingleFileConfirmLimit: 1,
  },
}
const task: TierFactors = {
  description: 'Add a retry',
  writes: 1,
  trustTier: 'untrusted',
  trust: 0.3,
  successRate: 0.5,
  observations: 0,
}
const proven = {trustTier: 'trusted', trust: 0.9, successRate: 1, observations: 10, writes: 9} as const

describe('approvalTier', () => {
  const rows: [Partial<TierFactors>, tier: string][] = [
    [{description: 'Fetch https://example.com', writes: 0}, 'blocked'],
    [{description: 'Deploy the site', ...proven}, 'blocked'],
    [{description: 'publish it'}, 'blocked'],
    [{description: 'Rotate the secret key'}, 'blocked'],
    [{description: 'Send it to the secretary'}, 'review'],
    [{writes: 4}, 'blocked'],
    [{writes: 3}, 'review'],
    [{writes: 0}, 'auto_approve'],
    [{trustTier: 'provisional', writes: 4}, 'review'],
    [{trustTier: 'trusted'}, 'confirm'],
    [{trustTier: 'trusted', writes: 2}, 'review'],
    [{trustTier: 'system', writes: 9}, 'auto_approve'],
    [proven, 'auto_approve'],
    [{...proven, observations: 9}, 'review'],
    [{...proven, trust: 0.84}, 'review'],
    [{...proven, successRate: 0.97}, 'review'],
    [{...proven, trustTier: 'provisional'}, 'review'],
  ]
  for (const [each, tier] of rows)
    it(`is ${tier} for ${JSON.stringify(each)}`, () => assert.equal(approvalTier({...task, ...each}, policy), tier))

  it('measures the uncertainty of outcomes in bits', () => {
    assert.equal(outcomeEntropy(0.5), 1)
    assert.equal(outcomeEntropy(1).toFixed(4), '0.0114')
    assert.equal(outcomeEntropy(0).toFixed(4), '0.0114')
  })
})

describe('an approval marker', () => {
  for (const marker of ['[approval:confirm]', '[approval:reviewed]', '[human-approved]'])
    it(`${marker} confirms a task, but does not review or unblock it`, () => {
      const tierOf = (tier: 'confirm' | 'review' | 'blocked') => tierWithMarker(tier, `Add a retry ${marker}`)
      assert.deepEqual([tierOf('confirm'), tierOf('review'), tierOf('blocked')], ['auto_approve', 'review', 'blocked'])
    })
  it('is required to confirm a task', () => assert.equal(tierWithMarker('confirm', 'Add [approval]'), 'confirm'))
})

describe('submitSignals', () => {
  const given = {description: 'Add a retry', priority: 'normal', writes: 1, backlog: 0, trust: 0.3} as const
  it('describe a risky task', () => {
    assert.deepEqual(submitSignals({...given, description: 'Delete the table'}), {
      channel: 'task_submit',
      expected_information_gain_bits: 0.17,
      expected_user_cost: 0.65,
      confidence_estimate: 0.4,
      contradiction_ratio: 0.2,
      pending_clarification_backlog: 0,
      trust_score: 0.3,
      irreversible_or_high_risk: true,
    })
  })
  it('limit gain and cost', () => {
    const {expected_information_gain_bits: gain, expected_user_cost: cost} = submitSignals({
      ...given,
      priority: 'urgent',
      writes: 99,
    })
    assert.deepEqual([gain, cost], [0.35, 1])
  })
  it('describe a task without risk', () => {
    const {confidence_estimate, contradiction_ratio, irreversible_or_high_risk} = submitSignals(given)
    assert.deepEqual([confidence_estimate, contradiction_ratio, irreversible_or_high_risk], [0.68, 0.08, false])
  })
})
