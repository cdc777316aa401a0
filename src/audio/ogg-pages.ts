import type {ByteReader} from './byte-reader.js'

/** A page without its body: what is always there, and the sizes of at most 255 segments. */
const headBytes = 27
/** What is taken at once where no page is. */
const strayBytes = 1024

/** Bytes of an Ogg file: one page, or what lies between two pages. */
export interface OggPiece {
  bytes: Buffer
  /** What comes before it is a whole file of its own, behind which another one was put. */
  begins: boolean
}

/** An Ogg file page by page. Source: RFC 3533, section 6. */
export async function* oggPages(reader: ByteReader): AsyncGenerator<OggPiece, void, undefined> {
  // Streams that are played together all begin before the first of them goes on.
  let wentOn = false
  for (;;) {
    const head = await reader.peek(headBytes)
    if (head.length === 0) return
    if (head.length < headBytes || head.toString('latin1', 0, 4) !== 'OggS')
      yield {bytes: await reader.read(await strayLength(reader)), begins: false}
    else {
      const first = (head[5]! & 2) !== 0
      const table = headBytes + head[26]!
      const segments = (await reader.peek(table)).subarray(headBytes)
      yield {bytes: await reader.read(segments.reduce((sum, size) => sum + size, table)), begins: first && wentOn}
      wentOn = !first
    }
  }
}

/** Up to the next page, where that is near. */
async function strayLength(reader: ByteReader): Promise<number> {
  const next = (await reader.peek(strayBytes)).indexOf('OggS', 1, 'latin1')
  return next < 0 ? strayBytes - 3 : next
}
