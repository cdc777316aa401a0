/** The result of a benchmark. */
export interface Result {
  /** Time of svc divided by the time of the base, in the same run; a lower ratio is better. */
  ratio: number
  /** The measurements behind the ratio; the names end in the unit. */
  figures: Readonly<Record<string, number>>
}

export interface Benchmark {
  /** `lang-check` */
  readonly name: string
  /** What is measured, as a sentence. */
  readonly measures: string
  /** What the ratio compares with, as a noun phrase. */
  readonly base: string
  /** @throws the abort reason of the signal */
  run(signal: AbortSignal): Promise<Result>
}
