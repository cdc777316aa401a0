/** Time limits that are independent of the speed and load of the machine. */

/** Starts a measurement. The result returns the processor time used by this process since then, ms. */
export function processorTimer(): () => number {
  const start = process.cpuUsage()
  return () => {
    const {user, system} = process.cpuUsage(start)
    return (user + system) / 1000
  }
}

/** Whether a processor time is within a limit for an ordinary machine, both in ms. */
export const isWithin = (ms: number, limit: number) => ms <= limit || ms <= limit * slowness()

/** Duration of the reference work on an ordinary machine, ms. */
const ordinary = 60

/** Current slowness of this machine relative to an ordinary one; at least 1. */
function slowness(): number {
  const elapsed = processorTimer()
  const counts = new Map<string, number>()
  for (let i = 0; i < 200_000; i++) {
    const key = `key ${(i * 7919) % 50_000}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return Math.max(1, elapsed() / ordinary)
}
