/** Time limits that hold on a machine that is slow, or busy with other things. */

/** Starts to measure; gives the processor time that this process has used since, ms. */
export function processorTimer(): () => number {
  const start = process.cpuUsage()
  return () => {
    const {user, system} = process.cpuUsage(start)
    return (user + system) / 1000
  }
}

/** Whether a processor time is within a limit that was set for an ordinary machine, both in ms. */
export const isWithin = (ms: number, limit: number) => ms <= limit || ms <= limit * slowness()

/** What the reference work takes on an ordinary machine, ms. */
const ordinary = 60

/** How many times slower than an ordinary machine this one is at the moment; at least 1. */
function slowness(): number {
  const elapsed = processorTimer()
  const counts = new Map<string, number>()
  for (let i = 0; i < 200_000; i++) {
    const key = `key ${(i * 7919) % 50_000}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return Math.max(1, elapsed() / ordinary)
}
