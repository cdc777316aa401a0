import type {TaskListener} from '../tasks/index.js'
import {buryExhausted, buryInbox} from './dead-letters.js'
import {pruneMessages} from './prune.js'

/** An agent that comes by the name of a retired one is another one: its inbox is not handed on. */
export const messageListener: TaskListener = {
  cleanup(context) {
    buryExhausted(context)
    pruneMessages(context)
  },
  agentRetired: (context, {agentId}) => buryInbox(context, agentId, 'its agent is retired'),
}
