import type {Workspace} from '../assistant.js'
import type {Journey} from './journey.js'

/** The store of the conversations. */
export type Conversations = Pick<Workspace, 'store' | 'repositoryId'>

/** A message of one side. */
export interface Turn {
  /** `user-17`, `asst-18` */
  id: string
  role: 'user' | 'assistant'
  content: string
  /** Unix seconds. */
  timestamp: number
  model_used?: string
  /** Tokens of an answer. */
  tokens?: number
  /** The answer was cut off at the token limit. */
  truncated?: true
  /** Files sent to the model with a message. */
  context_files?: string[]
  journey: Journey
}

/** A conversation without its turns. */
export interface ConversationSummary {
  session_id: string
  /** The first line of the first message. */
  title: string
  thread_id?: string
  /** The surface where it started. */
  origin_surface: string
  turns: number
  created_at_ms: number
  updated_at_ms: number
}

/** Maximum number of turns per read. */
const pageSize = 100

interface TurnRow {
  id: number
  role: Turn['role']
  content_text: string
  payload_json: string
  model_used: string | null
  token_count: number | null
  context_files_json: string | null
  created_at_ms: number
}

const idOf = ({id, role}: Pick<TurnRow, 'id' | 'role'>) => `${role === 'user' ? 'user' : 'asst'}-${id}`

/** Further data of a turn. */
interface Payload {
  journey: Journey
  truncated?: true
}

function toTurn(row: TurnRow): Turn {
  const {role, content_text: content, payload_json, model_used, token_count, context_files_json, created_at_ms} = row
  const {journey, truncated} = JSON.parse(payload_json) as Payload
  return {
    id: idOf(row),
    role,
    content,
    timestamp: Math.floor(created_at_ms / 1000),
    ...(model_used === null ? {} : {model_used}),
    ...(token_count === null ? {} : {tokens: token_count}),
    ...(truncated === undefined ? {} : {truncated}),
    ...(context_files_json === null ? {} : {context_files: JSON.parse(context_files_json) as string[]}),
    journey,
  }
}

/** The trace of a turn, the same as `traceOf`. */
const trace = `coalesce(m.payload_json ->> '$.journey.trace_id', m.payload_json ->> '$.journey.correlation_id')`

/** The latest turns of a session, optionally of one trace, oldest first. */
export const readTurns = (
  {store, repositoryId}: Conversations,
  session: string,
  {limit = pageSize, traceId}: {limit?: number | undefined; traceId?: string | undefined} = {},
): Turn[] =>
  store
    .all<TurnRow>(
      `SELECT m.id, m.role, m.content_text, m.payload_json, m.model_used, m.token_count, m.context_files_json, m.created_at_ms
FROM conversation_messages m JOIN conversations c ON c.id = m.conversation_id
WHERE c.repository_id = @repository AND c.external_session_id = @session
  AND (@trace IS NULL OR ${trace} = @trace) ORDER BY m.id DESC LIMIT @limit`,
      {repository: repositoryId, session, trace: traceId ?? null, limit: Math.min(limit, pageSize)},
    )
    .reverse()
    .map(toTurn)

interface SummaryRow extends Omit<ConversationSummary, 'thread_id'> {
  thread_id: string | null
}

const summaries = `SELECT c.external_session_id AS session_id, c.title, c.thread_id, c.origin_surface, c.created_at_ms, c.updated_at_ms,
  (SELECT count(*) FROM conversation_messages m WHERE m.conversation_id = c.id) AS turns FROM conversations c`

const toSummary = ({thread_id, ...row}: SummaryRow): ConversationSummary => ({
  ...row,
  ...(thread_id === null ? {} : {thread_id}),
})

/** Conversations, most recently active first. */
export const listConversations = (
  {store, repositoryId}: Conversations,
  {offset = 0, limit = pageSize}: {offset?: number; limit?: number} = {},
): ConversationSummary[] =>
  store
    .all<SummaryRow>(
      `${summaries} WHERE c.repository_id = ? ORDER BY c.updated_at_ms DESC, c.id DESC LIMIT ? OFFSET ?`,
      [repositoryId, limit, offset],
    )
    .map(toSummary)

/** A conversation with its latest turns; undefined if it does not exist. */
export function readConversation(
  conversations: Conversations,
  session: string,
): (ConversationSummary & {messages: Turn[]}) | undefined {
  const {store, repositoryId} = conversations
  const row = store.get<SummaryRow>(`${summaries} WHERE c.repository_id = ? AND c.external_session_id = ?`, [
    repositoryId,
    session,
  ])
  return row === undefined ? undefined : {...toSummary(row), messages: readTurns(conversations, session)}
}

/** A value that changes with every change of a conversation; undefined if it does not exist. */
export const conversationState = ({store, repositoryId}: Conversations, session: string): string | undefined =>
  store
    .get<{state: number | null}>(
      `SELECT max(m.id) AS state FROM conversation_messages m JOIN conversations c ON c.id = m.conversation_id
WHERE c.repository_id = ? AND c.external_session_id = ?`,
      [repositoryId, session],
    )
    ?.state?.toString()

/** A message and its answer. */
export interface Exchange {
  prompt: string
  contextFiles: readonly string[]
  /** Further data of the message. */
  payload: Readonly<Record<string, unknown>>
  answer: string
  model: string
  /** Tokens of the answer. */
  tokens: number
  /** The answer was cut off. */
  isCutOff: boolean
}

/**
 * Appends both turns of an exchange, or neither. Concurrent exchanges are stored in the order of their writes and never
 * interleave. Returns the updated conversation.
 */
export function appendExchange(
  {store, repositoryId, now}: Pick<Workspace, 'store' | 'repositoryId' | 'now'>,
  journey: Journey,
  {prompt, contextFiles, payload, answer, model, tokens, isCutOff}: Exchange,
): Turn[] {
  const {session_id: session, thread_id: thread = null, origin_surface: surface} = journey
  return store.transaction(() => {
    const at = now()
    store.run(
      `INSERT INTO conversations (repository_id, external_session_id, thread_id, title, origin_surface, created_at_ms, updated_at_ms)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (repository_id, external_session_id) DO UPDATE SET
  thread_id = coalesce(excluded.thread_id, thread_id), updated_at_ms = excluded.updated_at_ms`,
      [repositoryId, session, thread, titleOf(prompt), surface, at, at],
    )
    const insert = `INSERT INTO conversation_messages
  (conversation_id, role, content_text, payload_json, model_used, token_count, context_files_json, created_at_ms)
SELECT id, ?, ?, ?, ?, ?, ?, ? FROM conversations WHERE repository_id = ? AND external_session_id = ?`
    const files = JSON.stringify(contextFiles)
    const asked = JSON.stringify({journey, ...payload})
    store.run(insert, ['user', prompt, asked, null, null, files, at, repositoryId, session])
    const answered = JSON.stringify({journey, ...(isCutOff ? {truncated: true} : {})} satisfies Payload)
    store.run(insert, ['assistant', answer, answered, model, tokens, null, at, repositoryId, session])
    return readTurns({store, repositoryId}, session)
  })
}

const maxTitleLength = 80

const titleOf = (prompt: string) => (prompt.trim().split(/\r?\n/)[0] ?? '').slice(0, maxTitleLength).trimEnd()
