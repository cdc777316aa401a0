import {settings} from '../setting.js'
import {boolean, choice, integer} from '../types.js'

const optIn = boolean('opt-in')

/** Metrics and cost events of a workspace. */
export const telemetrySettings = settings('telemetry', () => ({
  enabled: {
    type: boolean('lenient'),
    env: ['SVC_TELEMETRY'],
    default: true,
    doc: 'Record metrics in the workspace store and emit cost events. Model calls are always accounted for.',
  },
  llmCostEvents: {
    type: boolean('lenient'),
    env: ['SVC_MCP_LLM_COST_EVENTS'],
    doc: 'Also emit the cost of model calls as events; default: only if the store is in memory.',
  },
  workflowJournalOff: {
    type: optIn,
    env: ['SVC_WORKFLOW_JOURNAL_CODEX_OFF'],
    default: false,
    doc: 'Do not record the journal of workflows in the workspace store.',
  },
  benchmark: {
    type: optIn,
    env: ['SVC_BENCHMARK_TELEMETRY'],
    default: false,
    doc: 'Record the results of svc bench run and svc bench llm in the workspace store.',
  },
  syntaxK: {
    type: optIn,
    env: ['SVC_SYNTAX_K_TELEMETRY'],
    implied: {variable: 'SVC_BENCHMARK_TELEMETRY', read: optIn.parse},
    // An empty variable is not truthy, so it also overrides the implied variable.
    clears: ['SVC_SYNTAX_K_TELEMETRY'],
    default: false,
    doc: 'Record the results of svc bench syntax-k in the workspace store. If unset, SVC_BENCHMARK_TELEMETRY applies.',
  },
  syntaxKGate: {
    type: choice('observe', 'enforce'),
    env: ['SVC_SYNTAX_K_GATE'],
    default: 'observe',
    doc: 'What svc bench syntax-k does if an estimate exceeds the limit: warn (observe) or fail (enforce).',
  },
  syntaxKMaxBytes: {
    type: integer({min: 0}),
    env: ['SVC_SYNTAX_K_MAX_BYTES'],
    doc: 'Largest estimate that svc bench syntax-k accepts, in bytes; default: no limit.',
  },
}))
