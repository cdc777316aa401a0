import type {Session, SessionState} from './session.js'

export interface SessionTimers {
  /** Seconds without activity; 0 turns the timer off. */
  readonly idleTimeoutSecs: number
  readonly archiveTimeoutSecs: number
}

export interface StateChange {
  readonly from: SessionState
  readonly to: SessionState
}

/** The state changes that are due because of inactivity, in order. `now` is in Unix seconds. */
export function dueChanges(session: Session, now: number, timers: SessionTimers): StateChange[] {
  const rows: readonly {to: SessionState; from: readonly SessionState[]; after: number}[] = [
    {to: 'idle', from: ['active', 'compacted'], after: timers.idleTimeoutSecs},
    {to: 'archived', from: ['active', 'compacted', 'idle'], after: timers.archiveTimeoutSecs},
  ]
  const quiet = now - session.last_active
  const changes: StateChange[] = []
  for (const {to, from, after} of rows) {
    const state = changes.at(-1)?.to ?? session.state
    if (after > 0 && quiet >= after && from.includes(state)) changes.push({from: state, to})
  }
  return changes
}
