/** Chat sessions of agents, stored in the database or in files. */
export {openSessions} from './open-sessions.js'
export {sessionFragment} from './row-journal.js'
export type {Session, SessionState, Turn} from './session.js'
export type {Sessions} from './sessions.js'
