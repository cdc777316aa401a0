import {settings} from '../setting.js'
import {milliseconds} from '../types.js'

/** Chats and code generation. */
export const assistantSettings = settings('assistant', () => ({
  timeoutMs: {
    type: milliseconds(1),
    env: ['SVC_ASSISTANT_TIMEOUT_MS'],
    default: 600_000,
    doc: 'Total time limit for one model response in chat or code generation, in milliseconds.',
  },
}))
