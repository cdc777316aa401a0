/**
 * Writes the subset of the protocol-buffers wire format that an ONNX model needs: varints, fixed 32-bit floats and
 * length-delimited fields. Source: protobuf.dev/programming-guides/encoding.
 */
export class ProtobufWriter {
  readonly #chunks: Uint8Array[] = []
  #length = 0

  /** int32, int64, enum, bool. Negative numbers are written as 64-bit two's complement. */
  integer(field: number, value: number | bigint): this {
    return this.#varint(field << 3).#varint(value)
  }

  float(field: number, value: number): this {
    const bytes = new Uint8Array(4)
    new DataView(bytes.buffer).setFloat32(0, value, true)
    return this.#varint((field << 3) | 5).#push(bytes)
  }

  bytes(field: number, value: Uint8Array): this {
    return this.#varint((field << 3) | 2)
      .#varint(value.length)
      .#push(value)
  }

  text(field: number, value: string): this {
    return this.bytes(field, encoder.encode(value))
  }

  message(field: number, value: ProtobufWriter): this {
    this.#varint((field << 3) | 2).#varint(value.#length)
    for (const chunk of value.#chunks) this.#push(chunk)
    return this
  }

  finish(): Uint8Array {
    const out = new Uint8Array(this.#length)
    let at = 0
    for (const chunk of this.#chunks) {
      out.set(chunk, at)
      at += chunk.length
    }
    return out
  }

  #varint(value: number | bigint): this {
    const bytes: number[] = []
    let rest = BigInt.asUintN(64, BigInt(value))
    while (rest > 0x7fn) {
      bytes.push(Number(rest & 0x7fn) | 0x80)
      rest >>= 7n
    }
    bytes.push(Number(rest))
    return this.#push(Uint8Array.from(bytes))
  }

  #push(chunk: Uint8Array): this {
    this.#chunks.push(chunk)
    this.#length += chunk.length
    return this
  }
}

const encoder = new TextEncoder()
