import type {OperationBase} from '../../operations/index.js'

export interface ConversationEntry {
  session_id: string
  title: string
}

const loadAssistant = () => import('../../assistant/index.js')

/** Lists the conversations of the workspace, newest first. */
export async function conversationPage(
  {orchestrator}: OperationBase,
  page: {offset: number; limit: number},
): Promise<readonly ConversationEntry[]> {
  const {listConversations} = await loadAssistant()
  return listConversations(orchestrator, page)
}

/** Reads a conversation with its messages; undefined if it does not exist. */
export async function conversation({orchestrator}: OperationBase, sessionId: string): Promise<object | undefined> {
  const {readConversation} = await loadAssistant()
  return readConversation(orchestrator, sessionId)
}

/** Returns a function for polling: its result changes whenever the conversation changes. */
export async function stateOf({orchestrator}: OperationBase, sessionId: string): Promise<() => string | undefined> {
  const {conversationState} = await loadAssistant()
  return () => conversationState(orchestrator, sessionId)
}
