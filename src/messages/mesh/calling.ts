import type {SettingSources} from '../../config/index.js'

/** Caller-specific parameters of a mesh call. */
export interface Calling {
  /** Sources of the settings that determine the node name of this machine. */
  readonly sources: SettingSources
  /** Aborts when the caller disconnects. */
  readonly signal?: AbortSignal | undefined
}
