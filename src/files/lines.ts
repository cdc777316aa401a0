/**
 * Splits a stream into lines without their ends. A longer line is cut: it has more than `maxBytes` bytes, and its rest is
 * discarded.
 */
export async function* linesOf(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let length = 0
  let isCut = false
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      if (!isCut) yield Buffer.concat([...parts, chunk.subarray(start, end)])
      start = end + 1
      parts = []
      length = 0
      isCut = false
    }
    if (isCut) continue
    parts.push(chunk.subarray(start))
    length += chunk.length - start
    if (length <= maxBytes) continue
    yield Buffer.concat(parts)
    parts = []
    length = 0
    isCut = true
  }
  if (length > 0) yield Buffer.concat(parts)
}
