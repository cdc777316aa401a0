import type {SubmitTaskV1} from '../../contracts/index.js'
import type {Schedule} from './cron.js'
import type {Expression} from './expression.js'
import type {Template} from './template.js'

/** A compiled workflow. */
export interface Workflow {
  readonly name: string
  readonly description: string | undefined
  readonly inputs: Readonly<Record<string, InputType>>
  /** Hosts that http activities may call. */
  readonly hosts: readonly string[]
  /** When the daemon starts it; undefined if only people and programs do. */
  readonly schedule: Schedule | undefined
  readonly steps: readonly Step[]
  readonly output: Template | undefined
  /** Source of the definition, which the run keeps. */
  readonly source: unknown
  /** SHA-256 of the source in canonical form, hexadecimal. */
  readonly digest: string
}

export interface InputType {
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object'
  readonly description: string | undefined
  /** Undefined if the value is required. */
  readonly fallback: unknown
}

/** An activity or a block of steps. */
export type Step = ActivityStep | BranchStep | ParallelStep | ForEachStep

interface StepBase {
  /** Name of the result in expressions. */
  readonly id: string | undefined
  /** For people: the id, or the kind of the step. */
  readonly name: string
  /** Position in the definition, such as `2.then.0`. */
  readonly path: string
  readonly when: Expression | undefined
}

export interface ActivityStep extends StepBase {
  readonly kind: 'activity'
  readonly activity: Activity
  readonly maxAttempts: number
  readonly backoffMs: number
  readonly timeoutMs: number | undefined
  /** How long later runs reuse the result, ms; 0: never. */
  readonly cacheMs: number
  readonly continuesOnError: boolean
  readonly compensation: ActivityStep | undefined
}

export interface BranchStep extends StepBase {
  readonly kind: 'branch'
  readonly condition: Expression
  readonly consequent: readonly Step[]
  readonly otherwise: readonly Step[]
}

export interface ParallelStep extends StepBase {
  readonly kind: 'parallel'
  readonly branches: Readonly<Record<string, readonly Step[]>>
}

export interface ForEachStep extends StepBase {
  readonly kind: 'for_each'
  readonly items: Template
  readonly as: string
  readonly concurrency: number
  readonly steps: readonly Step[]
}

/** The result of a step, and the results with an id in it. */
export interface StepResult {
  readonly result: unknown
  readonly steps: Readonly<Record<string, unknown>>
}

/** What an activity does. Arguments are templates, evaluated when the activity starts. */
export type Activity =
  | {readonly kind: 'exec'; readonly args: Template<ExecArgs>}
  | {readonly kind: 'task'; readonly args: Template<SubmitTaskV1>}
  | {readonly kind: 'http'; readonly args: Template<HttpArgs>}
  | {readonly kind: 'transcribe'; readonly args: Template<TranscribeArgs>}
  | {readonly kind: 'generate'; readonly args: Template<GenerateArgs>}
  | {readonly kind: 'value'; readonly args: Template<ValueArgs>}
  | {readonly kind: 'timer'; readonly args: Template<TimerArgs>}
  | {readonly kind: 'signal'; readonly args: Template<SignalArgs>}
  | {readonly kind: 'approval'; readonly args: Template<ApprovalArgs>}
  | {readonly kind: 'mesh'; readonly args: Template<MeshArgs>}
  | {readonly kind: 'patch'; readonly args: Template<PatchArgs>}

export type ActivityKind = Activity['kind']
export type ActivityOf<K extends ActivityKind> = Activity & {readonly kind: K}
export type ArgsOf<K extends ActivityKind> = ReturnType<ActivityOf<K>['args']>

export interface ExecArgs {
  readonly argv: readonly string[]
  /** Directory below the workspace; undefined: the workspace. */
  readonly cwd?: string | undefined
  readonly env: Readonly<Record<string, string>>
  readonly json: boolean
}

export interface HttpArgs {
  readonly url: string
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
  readonly maxBytes: number
}

export interface TranscribeArgs {
  readonly file: string
  readonly language: string | undefined
}

export interface GenerateArgs {
  readonly prompt: string
  readonly system: string | undefined
  readonly temperature: number | undefined
  readonly maxTokens: number | undefined
  readonly json: boolean
}

export interface ValueArgs {
  readonly value: unknown
}

export interface TimerArgs {
  readonly ms: number
}

export interface SignalArgs {
  readonly key: string
}

export interface ApprovalArgs {
  readonly key: string
  readonly prompt: string
}

export interface MeshArgs {
  readonly operation: 'noop' | 'join' | 'snapshot' | 'heartbeat' | 'dispatch' | 'wait'
  readonly receiver: string | undefined
  readonly type: string | undefined
  readonly payload: unknown
}

export interface PatchArgs {
  readonly change: string
  readonly min: number
  readonly max: number
}

/** All steps of a workflow, blocks before their contents. */
export function* everyStep(steps: readonly Step[]): Generator<Step> {
  for (const step of steps) {
    yield step
    for (const inner of innerSteps(step)) yield* everyStep(inner)
  }
}

function innerSteps(step: Step): readonly (readonly Step[])[] {
  switch (step.kind) {
    case 'activity':
      return []
    case 'branch':
      return [step.consequent, step.otherwise]
    case 'parallel':
      return Object.values(step.branches)
    case 'for_each':
      return [step.steps]
  }
}
