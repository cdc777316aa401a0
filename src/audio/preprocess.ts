export type PreprocessMode = 'none' | 'peak_normalize' | 'rms_normalize'

export interface PreprocessOptions {
  mode: PreprocessMode
  /** Time limit of the stage, ms; 0 is no limit. */
  budgetMs: number
  /** Target level of `rms_normalize`, dBFS. */
  rmsTargetDbfs: number
  /** Monotonic clock, ms. */
  now?: () => number
}

/** Outcome of the stage; levels are 0 to 1. */
export interface PreprocessDiagnostics {
  mode: PreprocessMode | 'skipped_budget'
  wall_ms: number
  peak_before: number
  peak_after: number
  rms_before: number
  rms_after: number
  skipped_due_to_budget: boolean
}

/** Peak level after `peak_normalize`. */
const peakTarget = 0.95
/** Anything quieter is noise that must not be amplified. */
const minPeak = 1e-4
const minRms = 1e-6

/**
 * Normalises the loudness of samples. If that takes longer than the budget, the original samples are returned.
 * @param samples -1 to 1; not modified
 */
export function preprocess(
  samples: Float32Array,
  {mode, budgetMs, rmsTargetDbfs, now = () => performance.now()}: PreprocessOptions,
): {samples: Float32Array; diagnostics: PreprocessDiagnostics} {
  const started = now()
  const before = levelsOf(samples)
  const gain = gainOf(mode, before, rmsTargetDbfs)
  const changed = gain === 1 ? samples : samples.map((x) => Math.max(-1, Math.min(1, x * gain)))
  const after = changed === samples ? before : levelsOf(changed)
  const wallMs = now() - started
  const late = budgetMs > 0 && wallMs > budgetMs
  const result = late ? before : after
  return {
    samples: late ? samples : changed,
    diagnostics: {
      mode: late ? 'skipped_budget' : mode,
      wall_ms: wallMs,
      peak_before: before.peak,
      peak_after: result.peak,
      rms_before: before.rms,
      rms_after: result.rms,
      skipped_due_to_budget: late,
    },
  }
}

interface Levels {
  peak: number
  rms: number
}

function gainOf(mode: PreprocessMode, {peak, rms}: Levels, targetDbfs: number): number {
  if (mode === 'peak_normalize') return peak < minPeak ? 1 : peakTarget / peak
  if (mode === 'rms_normalize') return rms > minRms ? 10 ** (targetDbfs / 20) / rms : 1
  return 1
}

function levelsOf(samples: Float32Array): Levels {
  let peak = 0
  let squares = 0
  for (const x of samples) {
    peak = Math.max(peak, Math.abs(x))
    squares += x * x
  }
  return {peak, rms: samples.length === 0 ? 0 : Math.sqrt(squares / samples.length)}
}
