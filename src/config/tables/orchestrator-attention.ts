import {sectionSettings} from '../setting.js'
import {boolean, integer, milliseconds, number} from '../types.js'

/** The user's attention as a budget (pilot). */
export const orchestratorAttentionSettings = sectionSettings('orchestrator', () => ({
  attentionEnabled: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_ATTENTION_ENABLED'],
    default: false,
    doc: 'Route tasks by trust and exploration, to save the attention of the user.',
  },
  attentionBudgetMs: {
    type: milliseconds(),
    env: ['SVC_ORCHESTRATOR_ATTENTION_BUDGET_MS'],
    default: 3_600_000,
    planned: true,
    doc: 'Attention budget of the user, in milliseconds; 0 is exhausted from the start.',
  },
  attentionAlertThreshold: {
    type: number({min: 0.05, max: 0.99, clamp: true}),
    env: ['SVC_ORCHESTRATOR_ATTENTION_ALERT_THRESHOLD'],
    default: 0.7,
    planned: true,
    doc: 'Share of the attention budget above which its use raises an alert.',
  },
  attentionInterruptCostMs: {
    type: integer({min: 1, clamp: true}),
    env: ['SVC_ORCHESTRATOR_ATTENTION_INTERRUPT_COST_MS'],
    default: 23_250,
    planned: true,
    doc: 'Attention cost of one interruption, in milliseconds.',
  },
  attentionTrustRoutingWeight: {
    type: number({min: 0, max: 100}),
    env: ['SVC_ORCHESTRATOR_ATTENTION_TRUST_ROUTING_WEIGHT'],
    default: 2,
    doc: 'Routing points for a fully trusted agent.',
  },
}))

const weight = number({min: 0, max: 1})

/** Weights of the cost of an interruption, by the scales of the NASA task load index (TLX). */
export const attentionTlxWeightSettings = sectionSettings('orchestrator.attention_tlx_weights', () => ({
  mental: {
    type: weight,
    env: ['SVC_ORCHESTRATOR_TLX_MENTAL'],
    default: 0.35,
    planned: true,
    doc: 'Weight of task complexity.',
  },
  temporal: {
    type: weight,
    env: ['SVC_ORCHESTRATOR_TLX_TEMPORAL'],
    default: 0.25,
    planned: true,
    doc: 'Weight of task urgency.',
  },
  frustration: {
    type: weight,
    env: ['SVC_ORCHESTRATOR_TLX_FRUSTRATION'],
    default: 0.2,
    planned: true,
    doc: 'Weight of declined interruptions.',
  },
  trustDiscount: {
    type: weight,
    env: ['SVC_ORCHESTRATOR_TLX_TRUST_DISCOUNT'],
    default: 0.2,
    planned: true,
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
    planned: true,
    doc: 'Bits added to the expected information gain of a plan review.',
  },
  taskSubmitGainOffsetBits: {
    type: offset,
    default: 0,
    planned: true,
    doc: 'Bits added to the expected information gain of a question about a new task.',
  },
  a2aEscalationGainOffsetBits: {
    type: offset,
    env: ['SVC_ORCHESTRATOR_INTERRUPTION_CAL_A2A_GAIN'],
    default: 0,
    planned: true,
    doc: 'Bits added to the expected information gain of a question escalated by another agent.',
  },
  inlineAssistGainOffsetBits: {
    type: offset,
    default: 0,
    planned: true,
    doc: 'Bits added to the expected information gain of a hint during work.',
  },
  backlogCostPenaltyPerItem: {
    type: number({min: 0}),
    env: ['SVC_ORCHESTRATOR_INTERRUPTION_CAL_BACKLOG_PENALTY'],
    default: 0.05,
    planned: true,
    doc: 'Relative cost that each open question adds to the next one.',
  },
  trustAdjustmentScale: {
    type: number({min: 0}),
    default: 1,
    planned: true,
    doc: 'Influence of trust: 0 treats every agent as average, 1 applies trust in full.',
  },
}))
