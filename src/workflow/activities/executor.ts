import type {SvcError} from '../../errors/index.js'
import type {JoinRecord, MeshClient} from '../../mesh/index.js'
import type {OutputSource} from '../../process/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import type {ActivityKind, ArgsOf, GenerateArgs, TranscribeArgs} from '../definition/definition.js'
import type {ActivityKey} from '../store/activities.js'
import type {StepEvent} from '../store/journal.js'

/** Services of other modules that activities use. */
export interface ActivityPorts {
  /** Environment of this process, from which programs inherit a few harmless variables. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Undefined if speech recognition is not available in this process. */
  readonly transcribe: ((request: TranscribeArgs, signal: AbortSignal) => Promise<object>) | undefined
  generate(request: GenerateArgs, signal: AbortSignal): Promise<{text: string; model: string}>
  /** Opens a client of the control plane; undefined if none is configured. */
  readonly mesh: (() => Promise<MeshAccess>) | undefined
  /** The number of nodes in the local registry. */
  countLocalNodes(): Promise<number>
  /** Called with each line that a program prints, without its end. */
  readonly onLine?: ((line: ProgramLine) => void) | undefined
}

/** A line of a program. @property activity the name of its step */
export interface ProgramLine {
  readonly activity: string
  readonly source: OutputSource
  readonly text: string
}

/** A client of the control plane, and who uses it. */
export interface MeshAccess {
  readonly client: MeshClient
  /** This machine. */
  readonly node: JoinRecord
  /** The owner of the leases of mesh activities. */
  readonly claimer: JoinRecord
  /** The agent of this workspace, in whose name messages are sent. */
  readonly agent: string
}

/** A call of an activity. */
export interface Call<K extends ActivityKind = ActivityKind> {
  readonly context: WorkspaceContext
  readonly ports: ActivityPorts
  readonly key: ActivityKey
  readonly name: string
  readonly args: ArgsOf<K>
  readonly attempt: number
  /** Hosts that the workflow may call. */
  readonly hosts: readonly string[]
}

/** An activity that an earlier attempt has started. */
export type Started<K extends ActivityKind = ActivityKind> = Pick<Call<K>, 'context' | 'key'>

/** What an activity did. */
export interface ActivityOutcome {
  /** Any JSON value. */
  readonly result: unknown
  readonly event: StepEvent
}

/** Runs activities of a kind. */
export type Executor<K extends ActivityKind> =
  /** Has no effect outside the run: its rows are written at once. */
  | {readonly type: 'pure'; run(call: Call<K>): ActivityOutcome}
  /** Does something. It can be interrupted at any point, and is then repeated. */
  | {
      readonly type: 'work'
      run(call: Call<K>, signal: AbortSignal): Promise<ActivityOutcome>
      /**
       * Takes back what attempts have handed to others, because the run or the activity has ended without success. Called
       * again after an interruption. @returns what it did; undefined if nothing was left to take back
       */
      withdraw?(call: Call<K>, reason: string, signal: AbortSignal): Promise<StepEvent | undefined>
    }
  /** Waits for something in the tables, possibly in no process. */
  | {
      readonly type: 'wait'
      /** Called when an attempt starts, in its transaction. */
      begin?(call: Call<K>): void
      /** When the activity can be ready without a change of the tables, Unix ms. */
      wakeAtMs?(call: Call<K>): number
      isReady(call: Call<K>): boolean
      /** Called when the activity is ready, in the transaction that records its result, even if it is a failure. */
      finish(call: Call<K>): ActivityOutcome | {readonly failure: SvcError}
      /** True if the run has ended what an earlier attempt waits for: that attempt is over. */
      isWithdrawn?(call: Started<K>): boolean
      /** True if someone has begun what the activity waits for, so that it may have effects. */
      hasBegun?(call: Started<K>): boolean
    }

/** An entry about a local activity. Names that begin with certain words are classified. */
export const localEvent = (name: string): StepEvent => ({
  event: 'LocalActivity',
  status: 'executed',
  classification: name.startsWith('recon_')
    ? 'reconstruction'
    : name.startsWith('verify_')
      ? 'verification'
      : name.startsWith('plan_')
        ? 'planning'
        : 'local',
})
