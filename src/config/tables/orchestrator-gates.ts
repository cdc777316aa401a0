import {sectionSettings} from '../setting.js'
import {hiddenChecks} from '../structures.js'
import {boolean, choice, integer, list, number} from '../types.js'

/** Maximum number of times that a gate returns the same task. */
const iterations = integer({min: 0, max: 255})

/** Checks that a task must pass before it is completed. */
export const orchestratorGateSettings = sectionSettings('orchestrator', () => ({
  behavioralGateOnComplete: {
    type: boolean('strict'),
    default: false,
    doc: 'Run the commands of behavioral_gate_command before a task is completed.',
  },
  behavioralGateCommand: {
    type: list(),
    default: [] as readonly string[],
    doc: 'Command templates that must succeed before a task is completed.',
  },
  harnessCompletionGuard: {
    type: choice('off', 'shadow', 'warn', 'enforce', 'strict'),
    env: ['SVC_ORCHESTRATOR_HARNESS_COMPLETION_GUARD'],
    default: 'off',
    doc: 'Whether acceptance lines and required checks are ignored (off), only recorded (shadow) or required (enforce).',
  },
  submitTaskBypassQuestioningGate: {
    type: boolean('flag'),
    env: ['SVC_SUBMIT_TASK_BYPASS_QUESTIONING_GATE'],
    default: false,
    doc: 'Let programs submit tasks of a session that has an unanswered question.',
  },
  toestubGate: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_TOESTUB_GATE'],
    default: true,
    doc: 'Check the files that a task wrote for placeholders and secrets.',
  },
  maxDebugIterations: {
    type: iterations,
    env: ['SVC_ORCHESTRATOR_MAX_DEBUG_ITERATIONS'],
    default: 3,
    doc: 'Maximum number of times that failed checks return a task.',
  },
  maxToestubDebugIterations: {
    type: iterations,
    env: ['SVC_ORCHESTRATOR_MAX_TOESTUB_DEBUG_ITERATIONS'],
    default: 3,
    doc: 'Maximum number of times that placeholders return a task.',
  },
  maxSocratesDebugIterations: {
    type: iterations,
    env: ['SVC_ORCHESTRATOR_MAX_SOCRATES_DEBUG_ITERATIONS'],
    default: 3,
    doc: 'Maximum number of times that missing evidence returns a task.',
  },
  completionMarkdownLinkAuditEnabled: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_COMPLETION_MARKDOWN_LINK_AUDIT_ENABLED'],
    default: true,
    doc: 'Check the links in the Markdown files that a task wrote.',
  },
  completionGroundingShadow: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_COMPLETION_GROUNDING_SHADOW'],
    default: false,
    doc: 'Record citations and figures of a result that its evidence does not contain.',
  },
  completionGroundingEnforce: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_COMPLETION_GROUNDING_ENFORCE'],
    default: false,
    doc: 'Return a task if its evidence does not contain its citations and figures.',
  },
  contextLifecycleShadow: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_CONTEXT_LIFECYCLE_SHADOW'],
    default: false,
    doc: 'Log context envelopes that have expired or do not match their contract.',
  },
  contextLifecycleEnforce: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_CONTEXT_LIFECYCLE_ENFORCE'],
    default: false,
    doc: 'Reject context envelopes that have expired or do not match their contract.',
  },
  socratesGateShadow: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_SOCRATES_GATE_SHADOW'],
    default: false,
    doc: 'Log how well the evidence supports an answer.',
  },
  socratesGateEnforce: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_SOCRATES_GATE_ENFORCE'],
    default: false,
    doc: 'Return a task if the evidence does not support its answer.',
  },
  trustGateRelaxEnabled: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_TRUST_GATE_RELAX_ENABLED'],
    default: false,
    doc: 'Exempt reliable agents from strict scope, the grounding gate and the Socrates gate.',
  },
  trustGateRelaxMinReliability: {
    type: number({min: 0, max: 1}),
    env: ['SVC_ORCHESTRATOR_TRUST_GATE_RELAX_MIN_RELIABILITY'],
    default: 0.85,
    doc: 'Minimum reliability of an agent for these exemptions.',
  },
}))

/** Conditions of a completion that workers do not know. */
export const orchestratorHarnessSettings = sectionSettings('orchestrator.harness', () => ({
  hiddenChecks: {
    type: hiddenChecks(),
    secret: true,
    userOnly: true,
    doc: 'Checks that workers do not know, each with a command, files or both, and perhaps a workspace.',
  },
}))
