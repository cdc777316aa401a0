/** Size limits of a stream. */
export interface NdjsonLimits {
  lineBytes: number
  totalBytes: number
}

const newline = 0x0a

/**
 * Parses newline-delimited JSON incrementally. Blank lines are ignored, and the last line may lack its newline.
 * @param invalid creates the error for an invalid stream, from a clause with the reason
 */
export async function* ndjsonValues(
  bytes: AsyncIterable<Uint8Array>,
  limits: NdjsonLimits,
  invalid: (reason: string) => Error,
): AsyncGenerator<unknown, void, undefined> {
  const decoder = new TextDecoder('utf-8', {fatal: true})
  let number = 0
  for await (const line of lines(bytes, limits, invalid)) {
    number++
    let text: string
    try {
      text = decoder.decode(line).trim()
    } catch {
      throw invalid(`line ${number} is not UTF-8 text`)
    }
    if (text !== '') yield parse(text, number, invalid)
  }
}

function parse(text: string, number: number, invalid: (reason: string) => Error): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Without the content of the line: errors must not contain model output.
    throw invalid(`line ${number} is not JSON`)
  }
}

/** Splits chunks into lines; the chunks of a line are joined only once. */
async function* lines(
  bytes: AsyncIterable<Uint8Array>,
  limits: NdjsonLimits,
  invalid: (reason: string) => Error,
): AsyncGenerator<Buffer, void, undefined> {
  let pending: Uint8Array[] = []
  let pendingBytes = 0
  let totalBytes = 0
  const hold = (piece: Uint8Array) => {
    pending.push(piece)
    pendingBytes += piece.length
    if (pendingBytes > limits.lineBytes) throw invalid(`a line is longer than ${limits.lineBytes} bytes`)
  }
  const release = () => {
    const line = Buffer.concat(pending)
    pending = []
    pendingBytes = 0
    return line
  }
  for await (const piece of bytes) {
    totalBytes += piece.length
    if (totalBytes > limits.totalBytes) throw invalid(`it sends more than ${limits.totalBytes} bytes`)
    let start = 0
    for (let end = piece.indexOf(newline); end !== -1; end = piece.indexOf(newline, start)) {
      hold(piece.subarray(start, end))
      yield release()
      start = end + 1
    }
    if (start < piece.length) hold(piece.subarray(start))
  }
  if (pending.length > 0) yield release()
}
