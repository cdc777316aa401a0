import {sectionSettings} from '../setting.js'
import {boolean, choice, integer, number, path} from '../types.js'

/** Creation and execution of plans, and which submitted goals are planned. */
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
  planningRouterEnabled: {
    type: boolean('strict'),
    default: false,
    doc: 'Break submitted goals that need several steps into a plan, and execute it instead of a single task.',
  },
  planningRolloutPercent: {
    type: integer({min: 0, max: 100}),
    default: 0,
    doc: 'Percentage of these goals to plan, chosen by the text of the goal; the others are submitted as one task.',
  },
  planningShadowMode: {
    type: boolean('strict'),
    default: false,
    doc: 'Only record which submitted goals would be planned, and submit each as one task.',
  },
  planningWorkflowHandoffEnabled: {
    type: boolean('strict'),
    default: false,
    doc: 'Hand submitted goals that name a workflow or a pipeline to the workflow engine.',
  },
  planningWorkflowFile: {
    type: path(),
    doc: 'Workflow file for goals that are handed to a workflow: the one that the goal names, or the only one. It gets the input goal.',
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

/** Which tasks and plan steps should be tested. */
export const testDecisionPolicySettings = sectionSettings('orchestrator.test_decision_policy', () => ({
  fileCountThreshold: {
    type: integer({min: 1}),
    default: 4,
    doc: 'Number of written files from which tests of a task are required.',
  },
  complexityThreshold: {
    type: number({min: 0, max: 10}),
    default: 7,
    doc: 'Complexity from which tests of a task that changes files are required.',
  },
}))
