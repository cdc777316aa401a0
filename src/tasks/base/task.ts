import type {ManifestEntry, OrchTaskV1} from '../../contracts/index.js'
import type {BenchmarkTier, TaskCategory} from './vocabulary.js'

/** A task as the store knows it and as every surface prints it. Times are Unix milliseconds. */
export interface Task extends OrchTaskV1 {
  category: TaskCategory
  benchmark_tier?: BenchmarkTier
}

export type {ManifestEntry}

/** Ids that come with a request; every record of the task carries them. */
export type Correlation = Pick<
  Task,
  'journey_id' | 'session_id' | 'thread_id' | 'trace_id' | 'correlation_id' | 'tenant_id' | 'campaign_id'
>

export type TranscriptEntry = Task['transcript'][number]
/** A command template of the workspace and the values of its placeholders. */
export type ExecRequest = NonNullable<Task['exec']>
/** What a task's processor returned: `text`, and whatever else it reports. */
export type TaskResult = NonNullable<Task['result']>
export type TaskOutput = NonNullable<Task['output']>
