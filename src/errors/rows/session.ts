import {conflict, notFound, rows, unavailable} from '../row.js'

export const sessionErrors = rows(() => ({
  session_not_found: notFound({
    message: (p: {id: string}) => `Session not found: ${p.id}.`,
    hint: 'List the sessions. A session that was cleaned up cannot be reopened.',
  }),
  session_limit: conflict({
    http: 429,
    message: (p: {limit: number}) => `The limit of ${p.limit} open sessions is reached.`,
    hint: 'Use an open session, or increase orchestrator.session.max_sessions.',
  }),
  session_damaged: unavailable({
    http: 500,
    message: (p: {id: string; reason: string}) => `The session ${p.id} cannot be read: ${p.reason}.`,
    hint: 'Start a new session. Other sessions are not affected.',
  }),
}))
