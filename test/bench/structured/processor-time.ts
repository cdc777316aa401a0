/** Time of the processor that this process has used, ms: other programs of the machine do not add to it. */
export function processorMs(): number {
  const {user, system} = process.cpuUsage()
  return (user + system) / 1000
}
