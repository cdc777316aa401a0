import {conflict, notFound, rows, unavailable} from '../row.js'

export const sessionErrors = rows(() => ({
  session_not_found: notFound({
    message: (p: {id: string}) => `There is no session ${p.id}.`,
    hint: 'List the sessions to see their ids; one that was cleaned up does not come back.',
  }),
  session_limit: conflict({
    http: 429,
    message: (p: {limit: number}) => `No more than ${p.limit} sessions may be open at once.`,
    hint: 'Go on with one of them, or raise orchestrator.session.max_sessions.',
  }),
  session_damaged: unavailable({
    http: 500,
    message: (p: {id: string; reason: string}) => `The session ${p.id} cannot be read: ${p.reason}.`,
    hint: 'Start a new session; the others are not harmed.',
  }),
}))
