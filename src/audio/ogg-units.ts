import type {ByteReader} from './byte-reader.js'
import {type OggPage, oggPages} from './ogg-pages.js'
import type {DecoderContext} from './sound.js'
import type {Unit} from './unit.js'

/**
 * The packets of the first stream of an Ogg file that has the codec, a page at a time, and those of the streams of
 * other files behind it. A packet of which a part was lost is left out. Source: RFC 3533.
 * @param signature bytes that the first packet of a stream begins with, Latin-1
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
      // Streams that are played together all begin before the first of them goes on.
      if (stream === undefined || stream.wentOn) stream = new Stream(page.serial, stream !== undefined)
    }
    if (stream === undefined || page.serial !== stream.serial) continue
    const unit = stream.read(page)
    if (unit === undefined) continue
    if (unit.isAfterLoss) onDamage()
    yield unit
  }
  if (stream !== undefined && !stream.hasEnded)
    warn({code: 'audio_truncated', message: `${name} ends before its last page; what is there is used.`})
}

class Stream {
  readonly serial: number
  /** Whether there was a page after its first one. */
  wentOn = false
  hasEnded = false
  #begins: boolean
  #sequence: number | undefined
  /** What is there of a packet that goes on in the next page. */
  #begun: Uint8Array[] | undefined
  #isAfterLoss = false

  constructor(serial: number, begins: boolean) {
    this.serial = serial
    this.#begins = begins
  }

  /** The packets that end in a page; undefined where none does. */
  read(page: OggPage): Unit | undefined {
    const isNext = this.#sequence === undefined || page.sequence === this.#sequence + 1
    const lostPart = page.continues !== (this.#begun !== undefined)
    if (page.isAfterLoss || !isNext || lostPart) this.#isAfterLoss = true
    // A part without the one before it is no packet.
    if (!isNext || lostPart) this.#begun = undefined
    this.#sequence = page.sequence
    this.wentOn = !page.isFirst
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
    let isHeadless = continues && this.#begun === undefined
    let from = 0
    let to = 0
    for (const size of segments) {
      to += size
      if (size === 255) continue
      const part = body.subarray(from, to)
      if (!isHeadless) packets.push(this.#begun === undefined ? part : Buffer.concat([...this.#begun, part]))
      this.#begun = undefined
      isHeadless = false
      from = to
    }
    if (segments.at(-1) === 255 && !isHeadless) this.#begun = [...(this.#begun ?? []), body.subarray(from)]
    return packets
  }
}
