import {settings} from '../setting.js'
import {boolean} from '../types.js'

/** Chats, and code that a model writes. */
export const assistantSettings = settings('assistant', {
  llmCostEvents: {
    type: boolean('lenient'),
    env: ['SVC_MCP_LLM_COST_EVENTS'],
    doc: 'Tell what a chat or code that a model writes costs as an event too; when unset, only while no store is kept.',
  },
})
