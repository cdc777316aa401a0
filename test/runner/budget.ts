const units = {s: 1, m: 60, h: 3600} as const

/** A duration such as 90s, 10m or 1h, in seconds; undefined if the text is not one. */
export function parseBudget(text: string): number | undefined {
  const [, count, unit] = /^([1-9]\d*)([smh])$/.exec(text) ?? []
  return unit === undefined ? undefined : Number(count) * units[unit as keyof typeof units]
}

interface Budget {
  /** Seconds from now. */
  seconds: number
  /** Maximum number of concurrent files. */
  workers: number
  /** Recorded duration of a file, s; undefined if it has none. Such a file fits until the time is over. */
  recorded: (title: string) => number | undefined
  run: (title: string) => Promise<void>
  now?: () => number
}

/**
 * Runs files in order, and leaves out those that do not fit into the remaining time. A file that has started is not
 * interrupted, because half a campaign proves nothing.
 * @returns the files that were left out
 */
export async function runWithinBudget(
  titles: readonly string[],
  {seconds, workers, recorded, run, now = () => performance.now() / 1000}: Budget,
): Promise<string[]> {
  const end = now() + seconds
  const queue = [...titles]
  const leftOut: string[] = []
  const work = async () => {
    for (let title = queue.shift(); title !== undefined; title = queue.shift()) {
      const left = end - now()
      if (left <= 0 || (recorded(title) ?? 0) > left) leftOut.push(title)
      else await run(title)
    }
  }
  await Promise.all(Array.from({length: workers}, work))
  return leftOut
}
