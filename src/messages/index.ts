/** Messages between agents: in memory, in the store and over the mesh. */
export type {Acknowledged, AckRequest} from './ack.js'
export {type Broadcasted, broadcastMessage} from './broadcast.js'
export {type BulletinEntry, type BulletinFilter, followBulletin, readBulletin} from './bulletin.js'
export {MessageBus} from './bus.js'
export {type Consumer, consumerOf} from './consumer.js'
export type {MessageContext} from './context.js'
export {sweepDeadLetters} from './dead-letters.js'
export {type HistoryRequest, type MessageHistory, messageHistory} from './history.js'
export {type Inbox, type InboxRequest, readInbox} from './inbox.js'
export {messageListener} from './listener.js'
export {meshClientOf} from './mesh/mesh-client.js'
export type {Message} from './message.js'
export {pruneMessages} from './prune.js'
export {
  type AgentAnswer,
  type AgentQuestion,
  type AnsweredQuestion,
  answerAgent,
  askAgent,
  type PendingAgentQuestion,
  pendingAgentQuestions,
} from './questions.js'
export {ackRouted, readRouted, sendRouted} from './route.js'
export {messageFragment} from './schema.js'
export {type Sending, type SendRequest, type Sent, sendMessage} from './send.js'
export {countUnread} from './unread.js'
