/** True if any process has this pid. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // A process of another user exists but must not be signalled.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
