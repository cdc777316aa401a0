import {sectionSettings} from '../setting.js'
import {boolean, choice} from '../types.js'

/** Creation and execution of plans. */
export const orchestratorPlanningSettings = sectionSettings('orchestrator', () => ({
  planningEnabled: {
    type: boolean('strict'),
    default: true,
    doc: 'Allow plans to be created and executed.',
  },
  planningAutoModeEnabled: {
    type: boolean('strict'),
    default: false,
    doc: 'Run the steps of an executed plan without an approval for each.',
  },
  planningLlmSynthesisEnabled: {
    type: boolean('strict'),
    default: false,
    doc: 'Also use a model to plan goals from the command line and the daemon.',
  },
  planningReplanEnabled: {
    type: boolean('strict'),
    default: false,
    doc: 'Replan automatically when a step fails with one of its replan triggers.',
  },
  planningDepth: {
    type: choice('minimal', 'standard', 'deep'),
    default: 'standard',
    doc: 'Default level of detail at which a model breaks a goal into steps.',
  },
  planAdequacyShadow: {
    type: boolean('strict'),
    default: true,
    doc: 'Flag plans that are vague, risky or incomplete.',
  },
  planAdequacyEnforce: {
    type: boolean('strict'),
    default: false,
    doc: 'Reject plans that are vague, risky or incomplete.',
  },
}))
