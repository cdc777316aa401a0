import type {OpenQuestion} from '../../operations/index.js'
import type {Envelope} from '../envelope.js'

/** A task of the protocol: an orchestrator task, or a tool call that runs in the background. */
export interface TaskState {
  readonly id: string
  readonly status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'
  /** One sentence about the status. */
  readonly message: string
  /** Unix milliseconds. */
  readonly createdMs: number
  readonly updatedMs: number
  /** Time from its creation after which it can be deleted, ms; null if it is kept. */
  readonly ttlMs: number | null
  /** Result of the tool; undefined until the task has ended. */
  readonly outcome?: Envelope
  /** Decision of a person that the task waits for. */
  readonly question?: OpenQuestion
}

export const hasEnded = ({outcome}: TaskState): boolean => outcome !== undefined
