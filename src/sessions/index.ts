/** Chat sessions of agents, stored in the database or in files. */
export {openSessions, sessionsOf} from './open-sessions.js'
export {type Exchange, findSession, recordExchange} from './record-exchange.js'
export {sessionFragment} from './row-journal.js'
export type {Session, SessionState, Turn} from './session.js'
export {type SessionInfo, sessionInfo, summariseTurns} from './session-info.js'
export type {Sessions} from './sessions.js'
