import type {SettingSources} from '../../config/index.js'

/** What a call over the mesh has from its caller. */
export interface Calling {
  /** From which it is known what this machine is called as a node. */
  readonly sources: SettingSources
  /** Aborts when the caller has gone. */
  readonly signal?: AbortSignal | undefined
}
