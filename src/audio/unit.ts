import type {ChannelLayout} from './channel-layout.js'

/** Packets that are decoded at once, and their position in the recording. Positions are samples per channel. */
export interface Unit {
  packets: readonly Uint8Array[]
  /** Bytes were lost before it, so a gap in the positions becomes silence. */
  isAfterLoss: boolean
  /** Its start or its end, from the start of its stream; both undefined if the container has no positions. */
  start?: number | undefined
  end?: number | undefined
  /** Samples missing before it, estimated from the lost bytes if the container has no positions. */
  missing?: number | undefined
  /** It starts a stream that is chained after another one. */
  begins?: boolean
  /** Its end is the end of the stream; samples decoded beyond it are padding. */
  isLast?: boolean
  /** The order of its channels, if the container has another one than the codec. */
  layout?: ChannelLayout
}
