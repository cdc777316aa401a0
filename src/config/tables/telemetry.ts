import {settings} from '../setting.js'
import {boolean} from '../types.js'

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
}))
