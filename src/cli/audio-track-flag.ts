import {Flags} from '@oclif/core'
import type {TrackChoice, TrackList} from '../audio/index.js'
import {SvcError} from '../errors/index.js'

/** `--audio-track`; `default` selects the same track as no flag, without a notice. */
export const audioTrackFlag = Flags.custom<TrackChoice | 'default'>({
  description:
    'Audio track of a film to transcribe: its number, its language or default. (default: the track that the file marks, otherwise the one with the most channels)',
  helpValue: 'N|LANGUAGE|default',
  parse: async (value) => {
    if (value === 'default') return value
    if (/^[1-9]\d{0,3}$/.test(value)) return Number(value)
    const {languageTest} = await import('../speech/index.js')
    const matches = languageTest(value)
    if (matches !== undefined) return {name: value, matches}
    throw new SvcError('flag_value', {
      flag: '--audio-track',
      value,
      expected: 'the number of a track, a language such as de or german, or default',
    })
  },
})

/** The options of a transcription for the flag. @param notice prints the tracks if there is a choice and no flag */
export const trackOptions = (choice: TrackChoice | 'default' | undefined, notice: (text: string) => void) => ({
  track: choice === 'default' ? undefined : choice,
  onTracks: async ({tracks, selected}: TrackList) => {
    if (choice !== undefined || tracks.length < 2) return
    const {describeTracks} = await import('../audio/index.js')
    notice(
      `The recording has ${tracks.length} audio tracks: ${describeTracks(tracks)}. Track ${selected} is transcribed; --audio-track selects another one.`,
    )
  },
})
