import {sectionSettings} from '../setting.js'
import {boolean, integer, milliseconds, number} from '../types.js'

/** The attention of the user as a budget (a pilot). */
export const orchestratorAttentionSettings = sectionSettings('orchestrator', () => ({
  attentionEnabled: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_ATTENTION_ENABLED'],
    default: false,
    doc: 'Weigh interruptions against the attention that is left.',
  },
  attentionBudgetMs: {
    type: milliseconds(),
    env: ['SVC_ORCHESTRATOR_ATTENTION_BUDGET_MS'],
    default: 3_600_000,
    planned: true,
    doc: 'Milliseconds of attention that there are; 0 is none from the start.',
  },
  attentionAlertThreshold: {
    type: number({min: 0.05, max: 0.99, clamp: true}),
    env: ['SVC_ORCHESTRATOR_ATTENTION_ALERT_THRESHOLD'],
    default: 0.7,
    planned: true,
    doc: 'Share of the budget beyond which its use is an alert.',
  },
  attentionInterruptCostMs: {
    type: integer({min: 1, clamp: true}),
    env: ['SVC_ORCHESTRATOR_ATTENTION_INTERRUPT_COST_MS'],
    default: 23_250,
    planned: true,
    doc: 'Milliseconds of attention that a plain interruption costs.',
  },
  attentionTrustRoutingWeight: {
    type: number({min: 0, max: 100}),
    env: ['SVC_ORCHESTRATOR_ATTENTION_TRUST_ROUTING_WEIGHT'],
    default: 2,
    doc: 'Points for a fully trusted agent when a task is given out.',
  },
}))

const weight = number({min: 0, max: 1})

/** What makes an interruption costly, by the scales of the task load index. */
export const attentionTlxWeightSettings = sectionSettings('orchestrator.attention_tlx_weights', () => ({
  mental: {
    type: weight,
    env: ['SVC_ORCHESTRATOR_TLX_MENTAL'],
    default: 0.35,
    planned: true,
    doc: 'Weight of the complexity of the task.',
  },
  temporal: {
    type: weight,
    env: ['SVC_ORCHESTRATOR_TLX_TEMPORAL'],
    default: 0.25,
    planned: true,
    doc: 'Weight of its urgency.',
  },
  frustration: {
    type: weight,
    env: ['SVC_ORCHESTRATOR_TLX_FRUSTRATION'],
    default: 0.2,
    planned: true,
    doc: 'Weight of the interruptions that were turned down.',
  },
  trustDiscount: {
    type: weight,
    env: ['SVC_ORCHESTRATOR_TLX_TRUST_DISCOUNT'],
    default: 0.2,
    planned: true,
    doc: 'Weight of the trust that the agent lacks.',
  },
}))

/** Bits; the gain of a question lies between 0 and 1.5. */
const offset = number({min: -1.5, max: 1.5})

/** Corrections of what the orchestrator expects of an interruption. */
export const interruptionCalibrationSettings = sectionSettings('orchestrator.interruption_calibration', () => ({
  planReviewGainOffsetBits: {
    type: offset,
    env: ['SVC_ORCHESTRATOR_INTERRUPTION_CAL_PLAN_GAIN'],
    default: 0,
    planned: true,
    doc: 'Bits added to the expected gain of a review of a plan.',
  },
  taskSubmitGainOffsetBits: {
    type: offset,
    default: 0,
    planned: true,
    doc: 'Bits added to the expected gain of a question about a new task.',
  },
  a2aEscalationGainOffsetBits: {
    type: offset,
    env: ['SVC_ORCHESTRATOR_INTERRUPTION_CAL_A2A_GAIN'],
    default: 0,
    planned: true,
    doc: 'Bits added to the expected gain of a question that another agent raised.',
  },
  inlineAssistGainOffsetBits: {
    type: offset,
    default: 0,
    planned: true,
    doc: 'Bits added to the expected gain of a hint while the user works.',
  },
  backlogCostPenaltyPerItem: {
    type: number({min: 0}),
    env: ['SVC_ORCHESTRATOR_INTERRUPTION_CAL_BACKLOG_PENALTY'],
    default: 0.05,
    planned: true,
    doc: 'Share by which each open question makes the next one dearer.',
  },
  trustAdjustmentScale: {
    type: number({min: 0}),
    default: 1,
    planned: true,
    doc: 'How far trust counts: 0 takes every agent for average, 1 takes it as it is.',
  },
}))
