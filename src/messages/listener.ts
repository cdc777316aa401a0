import type {TaskListener} from '../workspace/index.js'
import {buryExhausted, buryInbox} from './dead-letters.js'
import {pruneMessages} from './prune.js'

/** Buries the inbox of a retired agent: a later agent with the same name is a different one and must not inherit it. */
export const messageListener: TaskListener = {
  cleanup(context) {
    buryExhausted(context)
    pruneMessages(context)
  },
  agentRetired: (context, {agentId}) => buryInbox(context, agentId, 'its agent is retired'),
}
