/** An audio track of a container. */
export interface AudioTrack {
  /** From 1, in the order of the file. */
  number: number
  /** Such as `aac`. */
  codec: string
  /** Hz. */
  sampleRate: number
  /** Such as `stereo`, `5.1` or `3 channels`. */
  layout: string
  /** As in the file, such as `ger`. */
  language?: string | undefined
  title?: string | undefined
  /** True if the file marks it as the one to play. */
  isDefault: boolean
}

/** The tracks of a recording, and the number of the decoded one. */
export interface TrackList {
  tracks: readonly AudioTrack[]
  selected: number
  /** Duration of the recording including its video, seconds; undefined if it is unknown. */
  durationSec?: number | undefined
}

/** Selects a track by its number, from 1, or by its language. */
export type TrackChoice = number | {name: string; matches: (language: string) => boolean}

/** Lists tracks in a sentence, such as `1 (eng, default), 2 (ger, "Commentary")`. */
export const describeTracks = (tracks: readonly AudioTrack[]): string =>
  tracks
    .map(({number, language, title, isDefault}) => {
      const details = [
        language,
        isDefault && tracks.length > 1 ? 'default' : '',
        title && JSON.stringify(title),
      ].filter(Boolean)
      return details.length === 0 ? `${number}` : `${number} (${details.join(', ')})`
    })
    .join(', ')

/** Name of the layout of mono, stereo and other recordings. */
export const layoutName = (channels: number): string => ['mono', 'stereo'][channels - 1] ?? `${channels} channels`

/** The track that a choice selects: of several with the language, the default one, or the first. */
export function selectTrack(tracks: readonly AudioTrack[], choice: TrackChoice): AudioTrack | undefined {
  if (typeof choice === 'number') return tracks[choice - 1]
  const spoken = tracks.filter(({language}) => language !== undefined && choice.matches(language))
  return spoken.find(({isDefault}) => isDefault) ?? spoken[0]
}
