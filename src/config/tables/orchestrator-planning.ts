import {sectionSettings} from '../setting.js'
import {boolean, choice} from '../types.js'

/** How plans are made and worked through. */
export const orchestratorPlanningSettings = sectionSettings('orchestrator', () => ({
  planningEnabled: {
    type: boolean('strict'),
    default: true,
    doc: 'Make plans and have them executed.',
  },
  planningAutoModeEnabled: {
    type: boolean('strict'),
    default: false,
    doc: 'Run the steps of a plan that is executed without asking a person about each.',
  },
  planningLlmSynthesisEnabled: {
    type: boolean('strict'),
    default: false,
    doc: 'Have a model break goals into steps also where the command line or a daemon asks.',
  },
  planningReplanEnabled: {
    type: boolean('strict'),
    default: false,
    doc: 'Make a plan anew when a step fails in a way that calls for it.',
  },
  planningDepth: {
    type: choice('minimal', 'standard', 'deep'),
    default: 'standard',
    doc: 'How finely a model breaks a goal into steps where nobody says.',
  },
  planAdequacyShadow: {
    type: boolean('strict'),
    default: true,
    doc: 'Tell what is vague, risky or missing in a plan.',
  },
  planAdequacyEnforce: {
    type: boolean('strict'),
    default: false,
    doc: 'Refuse a plan in which something is vague, risky or missing.',
  },
}))
