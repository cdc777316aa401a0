import type {Schema} from '../contracts/index.js'
import type {OperationContext} from './context.js'

/** Effect of an operation on the workspace. */
export type Effect = 'read' | 'write' | 'destructive'

/**
 * An operation of a workspace, declared once. Its input and output are those of the daemon method; other bindings can
 * rename members.
 */
export interface Operation {
  /** Unique in the table: `submit_task`. */
  readonly name: string
  /** For people: `Submit a task`. */
  readonly title: string
  /** One sentence, for people and for models. */
  readonly summary: string
  readonly effect: Effect
  /** Repeating a call with the same input has no further effect. */
  readonly idempotent: boolean
  /** It contacts something outside the workspace: a model or another node. */
  readonly openWorld?: true
  /** JSON Schema of an object. */
  readonly input: Schema
  /** JSON Schema of an object. */
  readonly output: Schema
  readonly bindings: Bindings
  /** @param input matches the schema, but input from a command may exceed length limits */
  run(input: never, context: OperationContext): unknown
}

/** The ways in which an operation can be called. */
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
 * Maps names in a binding to members of the input, or to nested members with a dot, such as
 * `{files: 'file_manifest', complexity: 'enqueue_hints.complexity'}`. Other members keep their names, except that a
 * member with renamed nested members is omitted.
 */
export type Renames = Readonly<Record<string, string>>

/** Only `core` is listed by default; every tool can be called. */
export type Tier = 'core' | 'dev' | 'advanced'

/** Subject of a tool. */
export type Lane = 'app' | 'workflow' | 'ai' | 'interop' | 'data' | 'platform'

export interface ToolBinding {
  /** `svc_submit_task` */
  readonly name: string
  readonly tier: Tier
  readonly lane: Lane
  readonly renames?: Renames
  /** Members of the input that a model does not need; nested members with a dot. */
  readonly hidden?: readonly string[]
  /** Members that are accepted, but omitted from the list of tools to save tokens. */
  readonly unlisted?: readonly string[]
  /** Members that are required only by this tool. */
  readonly required?: readonly string[]
  /** Schema of the answer, if it differs from the operation's output. */
  readonly output?: Schema
  /**
   * How a client can run the tool as a task of the protocol. `submit`: the answer has the `uid` of an orchestrator task.
   * `background`: the call runs on after its response, and runs again if the server ends first.
   */
  readonly task?: 'submit' | 'background'
  present?(output: never, context: OperationContext): unknown
}

/** Flags are named after members of the input: the flag of `session_id` is `--session-id`. */
export interface CliBinding {
  /** `orch approve` */
  readonly command: string
  /** The command declares its own arguments and flags, since it does more than call the operation. */
  readonly own?: true
  readonly renames?: Renames
  /** Members that are arguments instead of flags, in order. */
  readonly args?: readonly string[]
  /** Members of the input without a flag; nested members with a dot. */
  readonly hidden?: readonly string[]
  /** Members that are required only by this command. */
  readonly required?: readonly string[]
  /** Members that are read from standard input if they are `-`. */
  readonly piped?: readonly string[]
  /** Short names of flags. */
  readonly chars?: Readonly<Record<string, string>>
  /** Placeholders for the values of flags in help, instead of TEXT or N. */
  readonly placeholders?: Readonly<Record<string, string>>
}

/** Declares an operation whose input and output types are those of its handler. */
export const operation = <I, O>(
  row: Omit<Operation, 'run' | 'bindings'> & {
    bindings: Omit<Bindings, 'tool'> & {
      tool?: Omit<ToolBinding, 'present'> & {present?: (output: O, context: OperationContext) => unknown}
    }
    run(input: I, context: OperationContext): O | Promise<O>
  },
): Operation => row as unknown as Operation
