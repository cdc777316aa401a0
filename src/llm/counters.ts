/** Counters of an engine. `waiting` and `running` are gauges, the others are monotonic. */
const names = [
  'waiting',
  'running',
  'graphRuns',
  'batchedRuns',
  'promptTokens',
  'cachedTokens',
  'completionTokens',
  'draftedTokens',
  'acceptedTokens',
  'prefixFilesRead',
  'prefixFilesWritten',
  'prefixFilesIgnored',
] as const

export type CounterName = (typeof names)[number]

/**
 * Counters in shared memory, written by the engine's thread and read by others. With a single writer, plain reads and
 * writes of 64-bit floats are sufficient.
 */
export class EngineCounters {
  readonly memory: SharedArrayBuffer
  readonly #values: Float64Array

  constructor(memory = new SharedArrayBuffer(names.length * Float64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#values = new Float64Array(memory)
  }

  get(name: CounterName): number {
    return this.#values[names.indexOf(name)] as number
  }

  set(name: CounterName, value: number): void {
    this.#values[names.indexOf(name)] = value
  }

  add(name: CounterName, amount: number): void {
    this.set(name, this.get(name) + amount)
  }

  snapshot(): Record<CounterName, number> {
    return Object.fromEntries(names.map((name) => [name, this.get(name)])) as Record<CounterName, number>
  }
}
