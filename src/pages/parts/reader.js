/** Reading again what a page shows, after it has changed. */

/**
 * Creates a function that reads and shows something. While it reads, further calls are combined into one, which follows.
 * @param isOpen false if the result is not wanted any more
 * @param pauseMs time between two reads, ms
 */
export function createReader(read, show, {onFault, isOpen = () => true, pauseMs = 0}) {
  let isReading = false
  let isDue = false
  async function again() {
    isDue = isReading
    if (isReading) return
    isReading = true
    try {
      const value = await read()
      if (isOpen()) show(value)
    } catch (error) {
      if (isOpen()) onFault(error)
    }
    if (isDue) await new Promise((resolve) => setTimeout(resolve, pauseMs))
    isReading = false
    if (isDue && isOpen()) again()
  }
  return again
}
