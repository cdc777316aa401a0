import {setTimeout as sleep} from 'node:timers/promises'
import {jittered, type MeshClient, MeshHttpError} from '../../mesh/index.js'

/** The operations of a control plane that a worker uses. */
export type WorkerMesh = Pick<
  MeshClient,
  'ack' | 'deliver' | 'getBlob' | 'heartbeat' | 'inbox' | 'putBlob' | 'renewClaim' | 'timeoutMs' | 'verifyLease'
>

const firstPauseMs = 500
const maxPauseMs = 5000

/** True if the control plane answered that the lease, claim or file does not exist. */
export const isMissing = (error: unknown): boolean => error instanceof MeshHttpError && error.isMissing

/** Repeats a request while the control plane is unreachable or overloaded. @throws the reason of the signal */
export async function persist<T>(signal: AbortSignal, request: () => Promise<T>): Promise<T> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs))
    try {
      signal.throwIfAborted()
      return await request()
    } catch (error) {
      if (!(error instanceof MeshHttpError && error.isTransient)) throw error
      await sleep(jittered(pauseMs), undefined, {signal}).catch(() => signal.throwIfAborted())
    }
}
