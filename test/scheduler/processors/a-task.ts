import type {RunReport} from '../../../src/scheduler/processors/processor.js'
import type {Task} from '../../../src/tasks/base/task.js'
import {collectGarbage} from '../../support/garbage.js'

/** A stored task with defaults that a test can override. */
export const aTask = (facts: Partial<Task> = {}): Task => ({
  id: 42,
  display_id: 'T-0042',
  uid: '6f1c2a9e-0a53-4a55-9a6e-0c2f6d1b7e10',
  repository_id: 'r',
  status: 'InProgress',
  agent_id: 3,
  agent_name: 'builder',
  priority: 'normal',
  description: 'Name a prime number.',
  category: 'general',
  complexity: 5,
  phase_label: 'single_shot',
  processor: 'ai',
  file_manifest: [],
  depends_on: [],
  tool_hints: [],
  research_hints: [],
  is_detached: false,
  trace_id: '0af7651916cd43dd8448eb211c80319c',
  placement_reason: 'local_queue_default',
  transcript: [],
  retry_count: 0,
  debug_iterations: 0,
  toestub_iterations: 0,
  socrates_iterations: 0,
  generation: 1,
  handoff_count: 0,
  created_at_ms: 1_764_000_000_000,
  updated_at_ms: 1_764_000_000_000,
  ...facts,
})

/** Records the progress reports of a run. */
export function recordedReport(): RunReport & {entries: string[]} {
  const entries: string[] = []
  return {
    entries,
    phase: (phase) => void entries.push(`phase ${phase}`),
    message: (text) => void entries.push(text),
    process: () => undefined,
    output: () => undefined,
  }
}

export const unstopped: AbortSignal = new AbortController().signal

/** Collects garbage repeatedly during the work: a timer without references never fires. */
export async function underCollection<T>(work: Promise<T>): Promise<T> {
  const collect = setInterval(() => collectGarbage(), 400)
  try {
    return await work
  } finally {
    clearInterval(collect)
  }
}
