export type ResourceName =
  | {kind: 'tasks'}
  | {kind: 'task' | 'transcript'; id: number}
  | {kind: 'chat'; sessionId: string}

export const tasksUri = 'svc://tasks'
export const taskUri = (id: number) => `svc://tasks/${id}`
export const transcriptUri = (id: number) => `svc://tasks/${id}/transcript`
export const chatUri = (sessionId: string) => `svc://chats/${encodeURIComponent(sessionId)}`

/** Canonical URI of a resource: clients may write a task id as 42 or T-0042. */
export function uriOf(name: ResourceName): string {
  if (name.kind === 'tasks') return tasksUri
  if (name.kind === 'chat') return chatUri(name.sessionId)
  return name.kind === 'task' ? taskUri(name.id) : transcriptUri(name.id)
}

/** Parses a resource URI; undefined if it does not have the form of one. */
export function parseUri(uri: string): ResourceName | undefined {
  if (uri === tasksUri || uri === `${tasksUri}/`) return {kind: 'tasks'}
  const [, id, transcript] = /^svc:\/\/tasks\/(?:T-)?0*([1-9]\d{0,14})(\/transcript)?$/i.exec(uri) ?? []
  if (id !== undefined) return {kind: transcript === undefined ? 'task' : 'transcript', id: Number(id)}
  const [, session] = /^svc:\/\/chats\/([^/?#]+)$/.exec(uri) ?? []
  const sessionId = session === undefined ? undefined : decoded(session)
  return sessionId === undefined ? undefined : {kind: 'chat', sessionId}
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
