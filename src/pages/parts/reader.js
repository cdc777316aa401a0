/** Reading again what a page shows, after it has changed. */

/**
 * Reads and shows something. While it reads, further calls of `reload` are combined into one, which follows. After `close`,
 * nothing is shown.
 * @param read receives a function that is false after `close`
 * @param pauseMs time between two reads, ms
 */
export function createReader(read, show, {onFault, pauseMs = 0}) {
  let isOpen = true
  let isReading = false
  let isDue = false
  async function reload() {
    isDue = isReading
    if (isReading) return
    isReading = true
    try {
      const value = await read(() => isOpen)
      if (isOpen) show(value)
    } catch (error) {
      if (isOpen) onFault(error)
    }
    if (isDue) await new Promise((resolve) => setTimeout(resolve, pauseMs))
    isReading = false
    if (isDue && isOpen) reload()
  }
  return {
    reload,
    close() {
      isOpen = false
    },
  }
}
