import {sectionSettings} from '../setting.js'
import {boolean, integer, number} from '../types.js'

/** Times that a gate may send the same task back. */
const iterations = integer({min: 0, max: 255})

/** What a task must pass before it counts as completed. */
export const orchestratorGateSettings = sectionSettings('orchestrator', () => ({
  toestubGate: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_TOESTUB_GATE'],
    default: true,
    planned: true,
    doc: 'Look for placeholders and secrets in the files that a task wrote.',
  },
  maxDebugIterations: {
    type: iterations,
    env: ['SVC_ORCHESTRATOR_MAX_DEBUG_ITERATIONS'],
    default: 3,
    planned: true,
    doc: 'How often checks of the work may send a task back.',
  },
  maxToestubDebugIterations: {
    type: iterations,
    env: ['SVC_ORCHESTRATOR_MAX_TOESTUB_DEBUG_ITERATIONS'],
    default: 3,
    planned: true,
    doc: 'How often placeholders may send a task back.',
  },
  maxSocratesDebugIterations: {
    type: iterations,
    env: ['SVC_ORCHESTRATOR_MAX_SOCRATES_DEBUG_ITERATIONS'],
    default: 3,
    planned: true,
    doc: 'How often a lack of evidence may send a task back.',
  },
  socratesGateShadow: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_SOCRATES_GATE_SHADOW'],
    default: false,
    planned: true,
    doc: 'Log how well the evidence bears an answer.',
  },
  socratesGateEnforce: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_SOCRATES_GATE_ENFORCE'],
    default: false,
    planned: true,
    doc: 'Send a task back whose evidence does not bear its answer.',
  },
  trustGateRelaxEnabled: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_TRUST_GATE_RELAX_ENABLED'],
    default: false,
    doc: 'Let a reliable agent pass the gates of evidence, citations and strict scope.',
  },
  trustGateRelaxMinReliability: {
    type: number({min: 0, max: 1}),
    env: ['SVC_ORCHESTRATOR_TRUST_GATE_RELAX_MIN_RELIABILITY'],
    default: 0.85,
    doc: 'Reliability from which an agent passes.',
  },
}))
