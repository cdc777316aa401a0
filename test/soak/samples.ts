import type {ThreadSample} from './preload.js'

/** Resource usage of a process. */
export interface Sample {
  /** Time by `performance.now()`. */
  atMs: number
  rss: number
  /** Sums over all threads. */
  heap: number
  resources: number
  /** Number of reporting threads. */
  threads: number
  /** Undefined if not available on this platform. */
  descriptors: number | undefined
}

/** Time without a report after which a thread counts as ended, ms. */
const threadTimeoutMs = 3000

/** Adds up the reports of the threads of a process, with one sample per report of the main thread. */
export class SampleLog {
  readonly samples: Sample[] = []
  readonly #workers = new Map<number, {atMs: number; heap: number; resources: number}>()

  add({thread, rss, heap, resources, descriptors}: ThreadSample, atMs: number): void {
    if (thread !== 0) {
      this.#workers.set(thread, {atMs, heap, resources})
      return
    }
    const total = {heap, resources, threads: 1}
    for (const [id, worker] of this.#workers)
      if (atMs - worker.atMs > threadTimeoutMs) this.#workers.delete(id)
      else {
        total.heap += worker.heap
        total.resources += worker.resources
        total.threads++
      }
    this.samples.push({atMs, rss, ...total, descriptors})
  }

  between(fromMs: number, toMs: number): Sample[] {
    return this.samples.filter(({atMs}) => atMs >= fromMs && atMs <= toMs)
  }
}

/** Least-squares slope of a line through points; 0 if fewer than two points differ in x. */
export function leastSquaresSlope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (at: 0 | 1) => points.reduce((sum, point) => sum + point[at], 0) / points.length
  const [meanX, meanY] = [mean(0), mean(1)]
  let [covariance, variance] = [0, 0]
  for (const [x, y] of points) {
    covariance += (x - meanX) * (y - meanY)
    variance += (x - meanX) ** 2
  }
  return variance === 0 || points.length < 2 ? 0 : covariance / variance
}

/** Window of samples per point, ms. */
const windowMs = 10_000

/**
 * Growth in MB (10^6 bytes) per minute. Uses the smallest sample of each window, because others include the memory of
 * running requests. Ignores samples with an unusual number of threads, while the model is unloaded or loaded.
 */
export function growth(samples: readonly Sample[], of: 'rss' | 'heap'): number {
  const usual = mostFrequent(samples.map(({threads}) => threads))
  const smallest = new Map<number, Sample>()
  for (const sample of samples) {
    if (sample.threads !== usual) continue
    const window = Math.floor(sample.atMs / windowMs)
    const found = smallest.get(window)
    if (found === undefined || sample[of] < found[of]) smallest.set(window, sample)
  }
  return leastSquaresSlope([...smallest.values()].map((sample) => [sample.atMs / 60_000, sample[of] / 1e6]))
}

function mostFrequent(values: readonly number[]): number | undefined {
  const counts = new Map<number, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0]
}

/** Number of handles of an idle process: the minimum of several samples, since a timer may be active in one of them. */
export interface Handles {
  resources: number
  descriptors: number | undefined
}

export function fewestHandles(samples: readonly Sample[]): Handles | undefined {
  if (samples.length === 0) return undefined
  const descriptors = samples.flatMap((sample) => sample.descriptors ?? [])
  return {
    resources: Math.min(...samples.map(({resources}) => resources)),
    descriptors: descriptors.length === 0 ? undefined : Math.min(...descriptors),
  }
}
