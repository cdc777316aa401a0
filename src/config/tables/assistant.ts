import {settings} from '../setting.js'

/** Chats, and code that a model writes. */
export const assistantSettings = settings('assistant', {})
