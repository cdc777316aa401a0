import type {SettingSources} from '../config/index.js'
import type {Orchestrator} from '../orchestrator/index.js'
import type {Progress, SpeechPort} from './speech-port.js'

/** The modules of a workspace: loaded to perform operations, not to list them. */
export type WorkspaceModules = typeof import('../orchestrator/index.js')

/** Through which face an operation is called. */
export type Surface = 'cli' | 'daemon' | 'mcp'

/** What a person is asked in the middle of an operation. */
export interface Question {
  message: string
  /** JSON Schema of a flat object: strings, numbers, booleans and lists of choices. */
  schema: Readonly<Record<string, unknown>>
}

/** What all operations of a process work with. */
export interface OperationBase {
  readonly modules: WorkspaceModules
  readonly orchestrator: Orchestrator
  readonly surface: Surface
  readonly version: string
  /** From which settings are resolved that the orchestrator does not have: the inference server, say. */
  readonly sources: SettingSources
  /** Undefined where this process recognises no speech. */
  readonly speech: SpeechPort | undefined
  /** Has the rest of this process read its settings anew, once the orchestrator has. */
  readonly onReload?: () => Promise<void>
}

/** What one call of an operation works with. */
export interface OperationContext extends OperationBase {
  /** Aborts when the caller has gone or does not want it any more. */
  readonly signal: AbortSignal
  /** Told how far it is, where somebody wants to know. */
  readonly report: (progress: Progress) => void
  /** Told what a person should know and the answer has no member for. */
  readonly notice: (text: string) => void
  /** Asks the person behind the caller; undefined where there is none, or none answers. */
  readonly ask: ((question: Question) => Promise<Readonly<Record<string, unknown>> | undefined>) | undefined
}
