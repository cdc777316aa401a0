import {conflict, notFound, rows, unavailable} from '../row.js'

export const sessionErrors = rows(() => ({
  session_not_found: notFound({
    message: (p: {id: string}) => `Session ${p.id} does not exist.`,
    hint: 'Run `svc orch session list` to list the sessions; a removed session cannot be restored.',
  }),
  session_limit: conflict({
    http: 429,
    message: (p: {limit: number}) => `The limit of ${p.limit} open sessions is reached.`,
    hint: 'Continue a session of `svc orch session list`, or raise orchestrator.session.max_sessions.',
  }),
  session_damaged: unavailable({
    http: 500,
    message: (p: {id: string; reason: string}) => `Cannot read session ${p.id}: ${p.reason}.`,
    hint: 'Start a new session; the other sessions are not affected.',
  }),
}))
