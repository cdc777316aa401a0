import {settings} from '../setting.js'
import {integer, text} from '../types.js'

/** How a process reads the durable inboxes of agents. */
export const messageSettings = settings('a2a', () => ({
  consumerId: {
    type: text(),
    env: ['SVC_A2A_CONSUMER_ID'],
    doc: 'For whom commands claim messages, instead of the process; name one where machines or containers share a store.',
  },
  claimLimit: {
    type: integer({min: 1, max: 2048}),
    env: ['SVC_A2A_CLAIM_LIMIT'],
    default: 256,
    doc: 'Most messages that are read or claimed at once.',
  },
}))
