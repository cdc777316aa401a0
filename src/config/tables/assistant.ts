import {settings} from '../setting.js'
import {boolean, milliseconds} from '../types.js'

/** Chats, and code that a model writes. */
export const assistantSettings = settings('assistant', () => ({
  timeoutMs: {
    type: milliseconds(1),
    env: ['SVC_ASSISTANT_TIMEOUT_MS'],
    default: 600_000,
    doc: 'Milliseconds that one answer of a model may take in all, in a chat or for code.',
  },
  llmCostEvents: {
    type: boolean('lenient'),
    env: ['SVC_MCP_LLM_COST_EVENTS'],
    doc: 'Tell what a chat or code that a model writes costs as an event too; when unset, only while no store is kept.',
  },
}))
