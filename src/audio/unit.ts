/** What is decoded at once, and its place in the recording. Times are samples per channel. */
export interface Unit {
  packets: readonly Uint8Array[]
  /** Bytes were lost before it, so what its place says is missing becomes silence. */
  isAfterLoss: boolean
  /** Where it starts, or else where it ends, counted from the start of its stream; undefined where nothing says so. */
  start?: number | undefined
  end?: number | undefined
  /** How much is missing before it, where the container has no places but the lost bytes can be counted. */
  missing?: number | undefined
  /** A new stream begins with it, behind another one. */
  begins?: boolean
  /** Its end is that of the stream: what is decoded beyond it is padding. */
  isLast?: boolean
}
