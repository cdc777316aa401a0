/** How much of a stream is taken before its sender counts as broken. */
export interface NdjsonLimits {
  lineBytes: number
  totalBytes: number
}

const newline = 0x0a

/**
 * The values of newline-delimited JSON, each as soon as its line is there. Blank lines mean nothing, and the last line
 * may lack its end.
 * @param fault makes the error of a stream that is none, from a clause that says why
 */
export async function* ndjsonValues(
  bytes: AsyncIterable<Uint8Array>,
  limits: NdjsonLimits,
  fault: (reason: string) => Error,
): AsyncGenerator<unknown, void, undefined> {
  const decoder = new TextDecoder('utf-8', {fatal: true})
  let number = 0
  for await (const line of lines(bytes, limits, fault)) {
    number++
    let text: string
    try {
      text = decoder.decode(line).trim()
    } catch {
      throw fault(`line ${number} is not UTF-8 text`)
    }
    if (text !== '') yield parse(text, number, fault)
  }
}

function parse(text: string, number: number, fault: (reason: string) => Error): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Without a word of it: what a model says belongs into no error.
    throw fault(`line ${number} is not JSON`)
  }
}

/** Pieces are joined once per line, however many they are. */
async function* lines(
  bytes: AsyncIterable<Uint8Array>,
  limits: NdjsonLimits,
  fault: (reason: string) => Error,
): AsyncGenerator<Buffer, void, undefined> {
  let held: Uint8Array[] = []
  let heldBytes = 0
  let totalBytes = 0
  const hold = (piece: Uint8Array) => {
    held.push(piece)
    heldBytes += piece.length
    if (heldBytes > limits.lineBytes) throw fault(`a line is longer than ${limits.lineBytes} bytes`)
  }
  const release = () => {
    const line = Buffer.concat(held)
    held = []
    heldBytes = 0
    return line
  }
  for await (const piece of bytes) {
    totalBytes += piece.length
    if (totalBytes > limits.totalBytes) throw fault(`it sends more than ${limits.totalBytes} bytes`)
    let start = 0
    for (let end = piece.indexOf(newline); end !== -1; end = piece.indexOf(newline, start)) {
      hold(piece.subarray(start, end))
      yield release()
      start = end + 1
    }
    if (start < piece.length) hold(piece.subarray(start))
  }
  if (held.length > 0) yield release()
}
