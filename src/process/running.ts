/** Whether there is a process of this number, whichever it is. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // A process of another user is there, and may not be signalled.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
