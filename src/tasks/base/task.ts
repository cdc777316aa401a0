import type {OrchTaskV1} from '../../contracts/index.js'
import type {BenchmarkTier, TaskCategory} from '../../workspace/index.js'

/** A task as it is stored and returned by every interface. Times are Unix milliseconds. */
export interface Task extends OrchTaskV1 {
  category: TaskCategory
  benchmark_tier?: BenchmarkTier
}

/** Correlation ids of a request; all records of the task contain them. */
export type Correlation = Pick<
  Task,
  'journey_id' | 'session_id' | 'thread_id' | 'trace_id' | 'correlation_id' | 'tenant_id' | 'campaign_id'
>

export type TranscriptEntry = Task['transcript'][number]
/** The result of a task's processor: `text` and any other members it reports. */
export type TaskResult = NonNullable<Task['result']>
export type TaskOutput = NonNullable<Task['output']>
/** How much approval a task needs. */
export type ApprovalTier = NonNullable<Task['approval_tier']>
