import {type ManifestEntry, type SubmitTaskV1, withoutUndefined} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import type {ExecutionRole, TaskCategory, WorkspaceContext} from '../../workspace/index.js'
import {type Accepted, type SubmitOptions, submitBatch} from './submit.js'

/** The predefined graphs of tasks. */
export const taskGraphs = ['coding', 'shard'] as const
export type TaskGraph = (typeof taskGraphs)[number]

export interface GraphRequest {
  graph: TaskGraph
  /** What the tasks have in common; its description is the goal. */
  task: SubmitTaskV1
  /** Number of shards; only for `shard`. */
  shards?: number | undefined
}

/** Maximum number of shards; each has two tasks. */
export const maxShards = 500

/**
 * Submits the tasks of a predefined graph, all or none.
 *
 * - `coding`: plan, draft, critique, repair; each depends on the previous one.
 * - `shard`: for each shard a generator and a validator that depends on it, then one task that depends on all validators.
 *   The files of the goal are divided among the shards.
 * @throws as `submitBatch`, and task_invalid
 */
export const submitGraph = (context: WorkspaceContext, request: GraphRequest, options?: SubmitOptions): Accepted[] =>
  submitBatch(context, graphTasks(request), options)

/** A task of a graph. */
interface GraphTask {
  phase: string
  category: TaskCategory
  role: ExecutionRole
  files: readonly FileEntry[]
  /** Positions, from 0, of the tasks that it depends on. */
  after: readonly number[]
  /** Part of the goal, for a shard. */
  part?: string
}

type FileEntry = NonNullable<SubmitTaskV1['file_manifest']>[number]

/** The tasks of a graph as a batch. @throws task_invalid */
export function graphTasks({graph, task, shards}: GraphRequest): SubmitTaskV1[] {
  const refuse = (fault: string): never => {
    throw new SvcError('task_invalid', {place: `The graph ${graph}`, fault})
  }
  if (task.temp_deps !== undefined) refuse('temp_deps is only allowed in a batch')
  const files = task.file_manifest ?? task.files ?? []
  if (graph === 'coding') {
    if (shards !== undefined) refuse('it has no shards')
    return asBatch(codingTasks(files), task)
  }
  if (shards === undefined || !Number.isInteger(shards) || shards < 1 || shards > maxShards)
    return refuse(`the number of shards must be an integer from 1 to ${maxShards}`)
  return asBatch(shardTasks(files, shards), task)
}

const codingTasks = (files: readonly FileEntry[]): GraphTask[] => [
  {phase: 'PLAN', category: 'planning', role: 'planner', files: onlyRead(files), after: []},
  {phase: 'DRAFT', category: 'codegen', role: 'builder', files, after: [0]},
  {phase: 'CRITIQUE', category: 'review', role: 'verifier', files: onlyRead(files), after: [1]},
  {phase: 'REPAIR', category: 'codegen', role: 'builder', files, after: [2]},
]

function shardTasks(files: readonly FileEntry[], shards: number): GraphTask[] {
  const numbers = Array.from({length: shards}, (_, i) => i)
  const filesOf = (shard: number) => files.filter((_, i) => i % shards === shard)
  const partOf = (shard: number) => `Shard ${shard + 1} of ${shards}: `
  return [
    ...numbers.map((shard): GraphTask => {
      const common = {category: 'codegen', role: 'builder'} as const
      return {phase: 'SHARD_GEN', ...common, files: filesOf(shard), after: [], part: partOf(shard)}
    }),
    ...numbers.map((shard): GraphTask => {
      const common = {category: 'review', role: 'verifier'} as const
      return {phase: 'SHARD_VALIDATE', ...common, files: onlyRead(filesOf(shard)), after: [shard], part: partOf(shard)}
    }),
    {phase: 'REDUCE', category: 'codegen', role: 'builder', files, after: numbers.map((shard) => shards + shard)},
  ]
}

const onlyRead = (files: readonly FileEntry[]): ManifestEntry[] => files.map(({path}) => ({path, access: 'read'}))

/**
 * Only the first tasks wait for the dependencies of the goal, and only the last one must meet its harness. The
 * idempotency key of the goal becomes one per task.
 */
function asBatch(tasks: readonly GraphTask[], goal: SubmitTaskV1): SubmitTaskV1[] {
  const {description, files: _, depends_on, accept, harness_spec_json, idempotency_key: key, ...common} = goal
  const {harness_spec_json: hinted, ...hints} = goal.enqueue_hints ?? {}
  return tasks.map(({phase, category, role, files, after, part = ''}, i) => {
    const isLast = i === tasks.length - 1
    return {
      ...common,
      description: `[PHASE:${phase}] ${part}${description}`,
      file_manifest: [...files],
      temp_deps: [...after],
      enqueue_hints: {
        ...hints,
        task_category: category,
        execution_role: role,
        ...withoutUndefined({harness_spec_json: isLast ? hinted : undefined}),
      },
      ...withoutUndefined({
        depends_on: after.length === 0 ? depends_on : undefined,
        accept: isLast ? accept : undefined,
        harness_spec_json: isLast ? harness_spec_json : undefined,
        idempotency_key: key === undefined ? undefined : `${key}/${i + 1}`,
      }),
    }
  })
}
