import {settings} from '../setting.js'
import {integer, text} from '../types.js'

/** Reading the durable inboxes of agents. */
export const messageSettings = settings('a2a', () => ({
  consumerId: {
    type: text(),
    env: ['SVC_A2A_CONSUMER_ID'],
    doc: 'Consumer name for claiming messages, default pid:N; set it if machines or containers share a store.',
  },
  claimLimit: {
    type: integer({min: 1, max: 2048}),
    env: ['SVC_A2A_CLAIM_LIMIT'],
    default: 256,
    doc: 'Maximum number of messages to read or claim at once.',
  },
}))
