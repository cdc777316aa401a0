import type {TaskListener} from '../listeners.js'
import {buryInbox} from './dead-letters.js'

/** An agent that comes by the name of a retired one is another one: its inbox is not handed on. */
export const messageListener: TaskListener = {
  agentRetired: (context, {agentId}) => buryInbox(context, agentId, 'its agent is retired'),
}
