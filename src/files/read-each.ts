/** Number of items that are read at the same time; each may hold a few files open, of which a process may have 256. */
const atOnce = 32

/** Applies a function that reads files to all items. Several run at the same time, because most of that is waiting. */
export async function readEach<I, R>(items: readonly I[], read: (item: I) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let i = 0; i < items.length; i += atOnce)
    results.push(...(await Promise.all(items.slice(i, i + atOnce).map((item) => read(item)))))
  return results
}
