import {logger} from '../../log/index.js'
import type {HeldLease, MeshClient} from '../../mesh/index.js'
import type {LostNodePolicy} from './lost-node.js'

/** A delegation of this process. */
export interface Held {
  key: string
  taskId: number
  holding?: HeldLease
  /** Monotonic time of the last sign of life of the worker, or of the delivery, ms. */
  seenMs: number
  /** Monotonic time at which the task must have ended. */
  deadlineMs: number
  /** Read at each use, since the settings of the workspace can change. */
  policy: () => LostNodePolicy
  isStarted: boolean
  /** A result is being stored, or the delegation is ending. */
  isBusy: boolean
  attempts: number
}

export const log = () => logger('svc.orchestrator.delegation')

/** The message of an error of the control plane, without its tokens. */
export const redacted = (client: MeshClient, error: unknown): string =>
  client.redact((error as Error).message ?? String(error))
