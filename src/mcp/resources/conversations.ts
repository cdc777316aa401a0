import type {OperationBase} from '../../operations/index.js'

/** A conversation, as far as the list of resources shows it. */
export interface ConversationEntry {
  session_id: string
  title: string
}

const loadAssistant = () => import('../../assistant/index.js')

/** The conversations of the workspace, the latest first. */
export async function conversationPage(
  {orchestrator}: OperationBase,
  page: {offset: number; limit: number},
): Promise<readonly ConversationEntry[]> {
  const {listConversations} = await loadAssistant()
  return listConversations(orchestrator, page)
}

/** A conversation with its messages; undefined where there is none. */
export async function conversation({orchestrator}: OperationBase, sessionId: string): Promise<object | undefined> {
  const {readConversation} = await loadAssistant()
  return readConversation(orchestrator, sessionId)
}

/** What is to be looked at again and again: something that changes whenever the conversation does. */
export async function stateOf({orchestrator}: OperationBase, sessionId: string): Promise<() => string | undefined> {
  const {conversationState} = await loadAssistant()
  return () => conversationState(orchestrator, sessionId)
}
