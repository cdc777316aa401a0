import {sectionSettings} from '../setting.js'
import {boolean, integer, milliseconds, number} from '../types.js'

/** The user's attention as a budget (pilot). */
export const orchestratorAttentionSettings = sectionSettings('orchestrator', () => ({
  attentionEnabled: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_ATTENTION_ENABLED'],
    default: false,
    doc: 'Route tasks by trust and exploration, and require approval for risky tasks of agents.',
  },
  attentionBudgetMs: {
    type: milliseconds(),
    env: ['SVC_ORCHESTRATOR_ATTENTION_BUDGET_MS'],
    default: 3_600_000,
    doc: 'Attention budget of the user, in milliseconds; 0 is exhausted from the start.',
  },
  attentionAlertThreshold: {
    type: number({min: 0.05, max: 0.99, clamp: true}),
    env: ['SVC_ORCHESTRATOR_ATTENTION_ALERT_THRESHOLD'],
    default: 0.7,
    doc: 'Share of the attention budget above which its use raises an alert.',
  },
  attentionInterruptCostMs: {
    type: integer({min: 1, clamp: true}),
    env: ['SVC_ORCHESTRATOR_ATTENTION_INTERRUPT_COST_MS'],
    default: 23_250,
    doc: 'Attention cost of one interruption, in milliseconds.',
  },
  attentionTrustRoutingWeight: {
    type: number({min: 0, max: 100}),
    env: ['SVC_ORCHESTRATOR_ATTENTION_TRUST_ROUTING_WEIGHT'],
    default: 2,
    doc: 'Routing points for a fully trusted agent.',
  },
  trustAutoApproveMin: {
    type: number({min: 0, max: 1}),
    default: 0.85,
    doc: 'Minimum trust in an agent for the automatic approval of tasks that write files.',
  },
}))

/** Rules for the approval that a task of an agent needs. */
export const tierGateSettings = sectionSettings('orchestrator.tier_gate', () => ({
  entropyAutoApproveThreshold: {
    type: number({min: 0, max: 1}),
    env: ['SVC_ORCHESTRATOR_TIER_GATE_ENTROPY_THRESHOLD'],
    default: 0.15,
    doc: 'Uncertainty of outcomes, in bits, below which tasks of a trusted agent are approved automatically.',
  },
  autoApproveMinObservations: {
    type: integer({min: 0}),
    env: ['SVC_ORCHESTRATOR_TIER_GATE_MIN_OBSERVATIONS'],
    default: 10,
    doc: 'Number of finished tasks that an agent needs for automatic approval.',
  },
  autoApproveMinTrust: {
    type: number({min: 0, max: 1}),
    default: 0.85,
    doc: 'Trust that an agent needs for automatic approval, in addition to trust_auto_approve_min.',
  },
  untrustedMaxWritesBeforeBlock: {
    type: integer({min: 0}),
    default: 3,
    doc: 'Maximum number of files that a task of an untrusted agent may write without approval before it starts.',
  },
  trustedSingleFileConfirmLimit: {
    type: integer({min: 0}),
    default: 1,
    doc: 'Number of files that a task of a trusted agent may write without a review.',
  },
}))

const weight = number({min: 0, max: 1})

/** Weights of the cost of an interruption, by the scales of the NASA task load index (TLX). */
export const attentionTlxWeightSettings = sectionSettings('orchestrator.attention_tlx_weights', () => ({
  mental: {
    type: weight,
    env: ['SVC_ORCHESTRATOR_TLX_MENTAL'],
    default: 0.35,
    doc: 'Weight of task complexity.',
  },
  temporal: {
    type: weight,
    env: ['SVC_ORCHESTRATOR_TLX_TEMPORAL'],
    default: 0.25,
    doc: 'Weight of task urgency.',
  },
  frustration: {
    type: weight,
    env: ['SVC_ORCHESTRATOR_TLX_FRUSTRATION'],
    default: 0.2,
    doc: 'Weight of declined interruptions.',
  },
  trustDiscount: {
    type: weight,
    env: ['SVC_ORCHESTRATOR_TLX_TRUST_DISCOUNT'],
    default: 0.2,
    doc: 'Weight of missing trust in the agent.',
  },
}))

/** Bits; the information gain of a question is between 0 and 1.5. */
const offset = number({min: -1.5, max: 1.5})

/** Corrections to the expected gain and cost of an interruption. */
export const interruptionCalibrationSettings = sectionSettings('orchestrator.interruption_calibration', () => ({
  planReviewGainOffsetBits: {
    type: offset,
    env: ['SVC_ORCHESTRATOR_INTERRUPTION_CAL_PLAN_GAIN'],
    default: 0,
    doc: 'Bits added to the expected information gain of a review before an agent executes a plan.',
  },
  taskSubmitGainOffsetBits: {
    type: offset,
    default: 0,
    doc: 'Bits added to the expected information gain of a question about a new task.',
  },
  a2aEscalationGainOffsetBits: {
    type: offset,
    env: ['SVC_ORCHESTRATOR_INTERRUPTION_CAL_A2A_GAIN'],
    default: 0,
    doc: 'Bits added to the expected information gain of a question of an agent about its task.',
  },
  inlineAssistGainOffsetBits: {
    type: offset,
    default: 0,
    doc: 'Bits added to the expected information gain of a question in a chat about open files.',
  },
  backlogCostPenaltyPerItem: {
    type: number({min: 0}),
    env: ['SVC_ORCHESTRATOR_INTERRUPTION_CAL_BACKLOG_PENALTY'],
    default: 0.05,
    doc: 'Relative cost that each open question adds to the next one.',
  },
  trustAdjustmentScale: {
    type: number({min: 0}),
    default: 1,
    doc: 'Influence of trust: 0 treats every agent as average, 1 applies trust in full.',
  },
}))
