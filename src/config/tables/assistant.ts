import {settings} from '../setting.js'
import {boolean, milliseconds} from '../types.js'

/** Chats and code generation. */
export const assistantSettings = settings('assistant', () => ({
  timeoutMs: {
    type: milliseconds(1),
    env: ['SVC_ASSISTANT_TIMEOUT_MS'],
    default: 600_000,
    doc: 'Total time limit for one model response in chat or code generation, in milliseconds.',
  },
  llmCostEvents: {
    type: boolean('lenient'),
    env: ['SVC_MCP_LLM_COST_EVENTS'],
    doc: 'Also emit the cost of chats and generated code as events; default: only if the store is in memory.',
  },
}))
