import type {Schema} from '../contracts/index.js'
import type {OperationContext} from './context.js'

/** What an operation does to the workspace. */
export type Effect = 'read' | 'write' | 'destructive'

/**
 * Something that can be done in a workspace, declared once. Its input and output are those of the daemon's method;
 * another face may call members by other names, and has a map that says so.
 */
export interface Operation {
  /** Unique in the table: `submit_task`. */
  readonly name: string
  /** For people: `Submit a task`. */
  readonly title: string
  /** One sentence, for people and for models. */
  readonly summary: string
  readonly effect: Effect
  /** Done again with the same input it changes nothing more. */
  readonly idempotent: boolean
  /** It asks something outside of the workspace: a model, another node. */
  readonly openWorld?: true
  /** JSON Schema of an object. */
  readonly input: Schema
  /** JSON Schema of an object. */
  readonly output: Schema
  readonly bindings: Bindings
  /** @param input fits the schema; what a command gives has its shape, and may be longer than its limits */
  run(input: never, context: OperationContext): unknown
}

/** Where an operation can be called from. */
export interface Bindings {
  readonly rpc?: RpcBinding
  readonly tool?: ToolBinding
  readonly cli?: CliBinding
}

export interface RpcBinding {
  /** `orch.submit_task` */
  readonly method: string
  readonly aliases?: readonly string[]
}

/**
 * Names of a face and what they stand for: a member of the input, or with a dot a member of such a member, such as
 * `{files: 'file_manifest', complexity: 'enqueue_hints.complexity'}`. Members that are not named keep their names,
 * except that one whose own members are named stands no more for itself.
 */
export type Renames = Readonly<Record<string, string>>

/** `core` is listed unless told otherwise; every tool can be called. */
export type Tier = 'core' | 'dev' | 'advanced'

/** What a tool is about. */
export type Lane = 'app' | 'workflow' | 'ai' | 'interop' | 'data' | 'platform'

export interface ToolBinding {
  /** `svc_submit_task` */
  readonly name: string
  readonly tier: Tier
  readonly lane: Lane
  readonly renames?: Renames
  /** Members of the input that a model has no use for; with a dot those of a member whose others are named. */
  readonly hidden?: readonly string[]
  /** Members that it takes and that the list of tools does without, where every word costs: any call may have them. */
  readonly unlisted?: readonly string[]
  /** Members that are required here alone. */
  readonly required?: readonly string[]
  /** Schema and shape of its answer, where it is not the operation's output. */
  readonly output?: Schema
  present?(output: never, context: OperationContext): unknown
}

/** Members of the input are named as they are called here, with `_`: the flag of `session_id` is `--session-id`. */
export interface CliBinding {
  /** `orch approve` */
  readonly command: string
  /** The command does more than call the operation: its arguments and flags are its own, none come from the input. */
  readonly own?: true
  readonly renames?: Renames
  /** What is an argument and no flag, in this order. */
  readonly args?: readonly string[]
  /** Members of the input that the command line has no flag for; with a dot as for a tool. */
  readonly hidden?: readonly string[]
  /** Members that are required here alone. */
  readonly required?: readonly string[]
  /** Texts that are read from standard input where `-` is given. */
  readonly piped?: readonly string[]
  /** Short names of flags. */
  readonly chars?: Readonly<Record<string, string>>
  /** What stands in the help for the value of a flag, where TEXT or N says too little. */
  readonly placeholders?: Readonly<Record<string, string>>
}

/** Declares an operation; the types of its input and output are those of its handler. */
export const operation = <I, O>(
  row: Omit<Operation, 'run' | 'bindings'> & {
    bindings: Omit<Bindings, 'tool'> & {
      tool?: Omit<ToolBinding, 'present'> & {present?: (output: O, context: OperationContext) => unknown}
    }
    run(input: I, context: OperationContext): O | Promise<O>
  },
): Operation => row as unknown as Operation
