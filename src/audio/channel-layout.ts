/** Positions of loudspeakers, in the order of their bits in the masks of WAVEFORMATEXTENSIBLE. */
const positions = [
  ...['FL', 'FR', 'FC', 'LFE', 'BL', 'BR', 'FLC', 'FRC', 'BC', 'SL', 'SR'],
  ...['TC', 'TFL', 'TFC', 'TFR', 'TBL', 'TBC', 'TBR'],
] as readonly Speaker[]

type Front = 'FL' | 'FR' | 'FC' | 'FLC' | 'FRC'
type Top = 'TC' | 'TFL' | 'TFC' | 'TFR' | 'TBL' | 'TBC' | 'TBR'
export type Speaker = Front | 'LFE' | 'BL' | 'BR' | 'BC' | 'SL' | 'SR' | Top

/** The loudspeaker of each channel; undefined if they are unknown. */
export type ChannelLayout = readonly Speaker[] | undefined

/**
 * Share of a loudspeaker in a mono mix. Source: ITU-R BS.775-4, annex 4. As in ffmpeg, the low-frequency and the top
 * channels have none.
 */
const shares: Readonly<Record<Speaker, number>> = {
  FL: Math.SQRT1_2,
  FR: Math.SQRT1_2,
  FC: 1,
  FLC: Math.SQRT1_2,
  FRC: Math.SQRT1_2,
  BL: 0.5,
  BR: 0.5,
  BC: 0.5,
  SL: 0.5,
  SR: 0.5,
  ...{LFE: 0, TC: 0, TFL: 0, TFC: 0, TFR: 0, TBL: 0, TBC: 0, TBR: 0},
}

/** The layout of a mask; undefined if it does not name a loudspeaker per channel. */
export function layoutOfMask(mask: number, channels: number): ChannelLayout {
  const speakers = positions.filter((_, bit) => mask & (1 << bit))
  return speakers.length === channels ? speakers : undefined
}

const named = (...layouts: readonly string[]): readonly ChannelLayout[] => [
  undefined,
  ...layouts.map((layout) => layout.split(' ') as Speaker[]),
]

const flacLayouts = named(
  ...['FC', 'FL FR', 'FL FR FC', 'FL FR BL BR', 'FL FR FC BL BR', 'FL FR FC LFE BL BR'],
  ...['FL FR FC LFE BC SL SR', 'FL FR FC LFE BL BR SL SR'],
)
const vorbisLayouts = named(
  ...['FC', 'FL FR', 'FL FC FR', 'FL FR BL BR', 'FL FC FR BL BR', 'FL FC FR BL BR LFE'],
  ...['FL FC FR SL SR BC LFE', 'FL FC FR SL SR BL BR LFE'],
)

/** The order of the channels in FLAC. Source: RFC 9639, section 9.1.3. */
export const flacLayout = (channels: number): ChannelLayout => flacLayouts[channels]

/** The order of the channels in Vorbis, and in Opus with mapping family 1. Source: Vorbis I, section 4.3.9. */
export const vorbisLayout = (channels: number): ChannelLayout => vorbisLayouts[channels]

/** Weights of the channels in a mono mix; their sum is 1. They are equal if the layout is unknown, or has no share. */
export function weightsOf(layout: ChannelLayout, channels: number): readonly number[] {
  const known = layout?.map((speaker) => shares[speaker]) ?? []
  const sum = known.reduce((a, b) => a + b, 0)
  return sum > 0 ? known.map((share) => share / sum) : Array<number>(channels).fill(1 / channels)
}
