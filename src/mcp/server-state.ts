import {RunningRequests} from './running-requests.js'
import {SuspendedCalls} from './suspended-calls.js'

/** `legacy`: revisions with a handshake, up to 2025-11-25. `modern`: 2026-07-28, in which every request is complete. */
export type Era = 'legacy' | 'modern'

/** Shared by the servers of one connection or, without sessions, by those of all requests. */
export interface ServerState {
  readonly running: RunningRequests
  readonly suspended: SuspendedCalls
  /** Aborted when clients can no longer answer questions. */
  readonly gone: AbortController
}

export const createServerState = (): ServerState => ({
  running: new RunningRequests(),
  suspended: new SuspendedCalls(),
  gone: new AbortController(),
})

/** Cancels open questions, and waits up to `ms` for running calls to finish. */
export async function drain({gone, running}: ServerState, ms: number): Promise<void> {
  gone.abort()
  await Promise.race([running.idle(), new Promise((resolve) => setTimeout(resolve, ms).unref())])
}
