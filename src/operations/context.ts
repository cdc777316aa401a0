import type {SettingSources} from '../config/index.js'
import type {ListenV1, SpeechStatusV1, TranscribeV1} from '../contracts/index.js'
import type {Orchestrator} from '../orchestrator/index.js'
import type {ListenRequest, SpeechToCode, SpokenCode, TranscribeRequest} from './speech-requests.js'

/** The modules of a workspace, loaded to perform operations but not to list them. */
export type WorkspaceModules = typeof import('../orchestrator/index.js')

/** What a function of the module `tasks` returns. */
export type ResultOf<Name extends keyof TaskFunctions> = TaskFunctions[Name] extends (...args: never[]) => infer R
  ? Awaited<R>
  : never
type TaskFunctions = WorkspaceModules['tasks']

/** The binding through which an operation is called. */
export type Surface = 'cli' | 'daemon' | 'mcp'

/** A question to a person during an operation. */
export interface Question {
  message: string
  /** JSON Schema of a flat object: strings, numbers, booleans and lists of choices. */
  schema: Readonly<Record<string, unknown>>
}

/** Progress of an operation. */
export interface Progress {
  done: number
  total?: number
  message?: string
}

/** Context shared by all operations of a process. */
export interface OperationBase {
  readonly modules: WorkspaceModules
  readonly orchestrator: Orchestrator
  readonly surface: Surface
  readonly version: string
  /** Sources of settings outside the orchestrator, such as the inference server. */
  readonly sources: SettingSources
  /** Undefined if speech recognition is not available in this process. */
  readonly speech: SpeechPort | undefined
  /** Reloads the other settings of this process after the orchestrator has reloaded its own. */
  readonly onReload?: () => Promise<void>
}

export interface OperationContext extends OperationBase {
  /** Aborts when the caller disconnects or cancels the call. */
  readonly signal: AbortSignal
  readonly report: (progress: Progress) => void
  /** Reports something to the user that is not part of the answer. */
  readonly notice: (text: string) => void
  /** Asks the person behind the caller; undefined if the caller cannot ask. The answer is undefined if there is none. */
  readonly ask: ((question: Question) => Promise<Readonly<Record<string, unknown>> | undefined>) | undefined
}

/** What a caller of an operation receives while it runs. */
export type CallHooks = Pick<OperationContext, 'signal' | 'report' | 'notice'>

/** The speech-to-text functions that operations need; a higher layer opens models, and uses what was said. */
export interface SpeechPort {
  transcribe(request: TranscribeRequest, hooks: CallHooks): Promise<TranscribeV1>
  /** Transcribes a recording as a live session, and uses the text: calls an operation, chats, or submits a task. */
  listen(request: ListenRequest, context: OperationContext): Promise<ListenV1>
  /** Generates a program from a recording or a text, and traces how it went. */
  speechToCode(request: SpeechToCode, context: OperationContext): Promise<SpokenCode>
  status(): Promise<SpeechStatusV1>
}
