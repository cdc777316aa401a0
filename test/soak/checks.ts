import {fewestHandles, growth, type Handles, type Sample} from './samples.js'
import type {Exit} from './server-process.js'

/**
 * Maximum growth of the heap, MB per minute. The heap after a garbage collection is checked, including external memory of
 * its objects. The resident set is only reported: it may grow for minutes, because the allocators of V8, SQLite and ONNX
 * Runtime retain freed memory.
 */
const maxGrowth = 1

/** For runs shorter than a minute, a total growth below 1 MB is considered noise. */
export const growthLimit = (measuredMs: number): number => round(maxGrowth / Math.min(1, measuredMs / 60_000))

/** Observations of a server. */
export interface Evidence {
  server: string
  requests: number
  aborted: number
  unexpected: number
  /** Examples of unexpected responses. */
  examples: readonly string[]
  /** Unexpected lines on standard error. */
  errors: readonly string[]
  exit: Exit
  /** Samples under load, after the warm-up. */
  load: readonly Sample[]
  /** Samples without clients after the warm-up and at the end. */
  idle: readonly [before: readonly Sample[], after: readonly Sample[]]
}

/** Printed results of a server. */
export interface Figures {
  server: string
  requests: number
  aborted: number
  samples: number
  heap_mb: number
  heap_mb_per_min: number
  rss_mb: number
  rss_mb_per_min: number
  handles_before: Handles | undefined
  handles_after: Handles | undefined
  exit_code: number | null
  unexpected_answers: number
  errors: number
}

export function figuresOf({server, load, idle, exit, ...seen}: Evidence): Figures {
  const last = load.at(-1)
  return {
    server,
    requests: seen.requests,
    aborted: seen.aborted,
    samples: load.length,
    heap_mb: round((last?.heap ?? 0) / 1e6),
    heap_mb_per_min: round(growth(load, 'heap')),
    rss_mb: round((last?.rss ?? 0) / 1e6),
    rss_mb_per_min: round(growth(load, 'rss')),
    handles_before: fewestHandles(idle[0]),
    handles_after: fewestHandles(idle[1]),
    exit_code: exit.code,
    unexpected_answers: seen.unexpected,
    errors: seen.errors.length,
  }
}

/** Describes each failed check of a server. */
export function faultsOf(
  {server, exit, errors, unexpected, examples}: Evidence,
  figures: Figures,
  limit: number,
): string[] {
  const {handles_before: before, handles_after: after, heap_mb_per_min: heap, samples} = figures
  const faults: string[] = []
  if (exit.code !== 0) faults.push(`exited with ${exit.code ?? exit.signal}, not 0.`)
  if (errors.length > 0) faults.push(`wrote ${errors.length} lines to standard error, the first of them: ${errors[0]}`)
  if (unexpected > 0) faults.push(`gave ${unexpected} unexpected answers, the first of them: ${examples[0]}`)
  if (samples < 2) faults.push('reported too few samples of its memory.')
  if (heap > limit) faults.push(`grows by ${heap} MB/min of heap; the limit is ${limit} MB/min.`)
  if (before === undefined || after === undefined) faults.push('reported no handles while it was idle.')
  else
    for (const kind of ['resources', 'descriptors'] as const)
      if (before[kind] !== after[kind])
        faults.push(`had ${before[kind]} open ${kind} after the warm-up and ${after[kind]} at the end.`)
  return faults.map((fault) => `svc ${server} ${fault}`)
}

function round(value: number): number {
  return Math.round(100 * value) / 100
}
