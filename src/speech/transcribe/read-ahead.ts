/** Maximum number of pieces to read ahead; a decoder that returns only empty ones would never end. */
const maxPieces = 10_000

/**
 * Reads the beginning of a stream. The returned stream has all pieces, and fails where the original one does.
 * @param samples length to read; 0 reads nothing
 * @returns `isComplete` if the stream ends within that length
 */
export async function readAhead(
  source: AsyncIterator<Float32Array>,
  samples: number,
): Promise<{source: AsyncIterator<Float32Array>; isComplete: boolean}> {
  const read: Promise<IteratorResult<Float32Array>>[] = []
  let isComplete = false
  for (let length = 0; !isComplete && samples > 0 && length <= samples && read.length < maxPieces; ) {
    const next = source.next()
    read.push(next)
    // A failure ends the stream; the reader receives it.
    const {value, done} = await next.catch(() => ({value: undefined, done: true}) as const)
    if (done) isComplete = true
    else length += value.length
  }
  return {
    isComplete,
    source: {
      next: () => read.shift() ?? source.next(),
      return: async () => {
        read.length = 0
        return (await source.return?.()) ?? {value: undefined, done: true}
      },
    },
  }
}
