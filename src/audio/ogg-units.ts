import type {ByteReader} from './byte-reader.js'
import {type OggPage, oggPages} from './ogg-pages.js'
import {type DecoderContext, truncationWarning} from './sound.js'
import type {Unit} from './unit.js'

/**
 * The packets of the first logical stream with the codec, one page at a time, and of the streams chained after it.
 * Incomplete packets are dropped. Source: RFC 3533.
 * @param signature start of a stream's first packet, Latin-1
 */
export async function* oggUnits(
  reader: ByteReader,
  signature: string,
  {name, warn}: DecoderContext,
  onDamage: () => void,
): AsyncGenerator<Unit, void, undefined> {
  let stream: Stream | undefined
  for await (const page of oggPages(reader)) {
    if (page.isAfterLoss) onDamage()
    if (page.isFirst && Buffer.from(page.body.subarray(0, signature.length)).toString('latin1') === signature) {
      // Multiplexed streams all begin before the second page of any of them; a later first page is a chained stream.
      if (stream === undefined || stream.hasContinued) stream = new Stream(page.serial, stream !== undefined)
    }
    if (stream === undefined || page.serial !== stream.serial) continue
    const unit = stream.read(page)
    if (unit === undefined) continue
    if (unit.isAfterLoss) onDamage()
    yield unit
  }
  if (stream !== undefined && !stream.hasEnded) warn(truncationWarning(name, 'ends before its last page'))
}

class Stream {
  readonly serial: number
  /** True if a page after its first one has been read. */
  hasContinued = false
  hasEnded = false
  #begins: boolean
  #sequence: number | undefined
  /** Parts of a packet that continues on the next page. */
  #partial: Uint8Array[] | undefined
  #isAfterLoss = false

  constructor(serial: number, begins: boolean) {
    this.serial = serial
    this.#begins = begins
  }

  /** The packets that end on a page; undefined if none does. */
  read(page: OggPage): Unit | undefined {
    const isNext = this.#sequence === undefined || page.sequence === this.#sequence + 1
    const lostPart = page.continues !== (this.#partial !== undefined)
    if (page.isAfterLoss || !isNext || lostPart) this.#isAfterLoss = true
    // A continuation without its beginning is dropped.
    if (!isNext || lostPart) this.#partial = undefined
    this.#sequence = page.sequence
    this.hasContinued = !page.isFirst
    this.hasEnded = page.isLast
    const packets = this.#packets(page)
    if (packets.length === 0) return undefined
    const unit = {
      packets,
      isAfterLoss: this.#isAfterLoss,
      end: page.granule,
      begins: this.#begins,
      isLast: page.isLast,
    }
    this.#isAfterLoss = false
    this.#begins = false
    return unit
  }

  #packets({segments, body, continues}: OggPage): Uint8Array[] {
    const packets: Uint8Array[] = []
    let isHeadless = continues && this.#partial === undefined
    let from = 0
    let to = 0
    for (const size of segments) {
      to += size
      if (size === 255) continue
      const part = body.subarray(from, to)
      if (!isHeadless) packets.push(this.#partial === undefined ? part : Buffer.concat([...this.#partial, part]))
      this.#partial = undefined
      isHeadless = false
      from = to
    }
    if (segments.at(-1) === 255 && !isHeadless) this.#partial = [...(this.#partial ?? []), body.subarray(from)]
    return packets
  }
}
