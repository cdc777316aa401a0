import {resolve} from 'node:path'
import {Args} from '@oclif/core'
import {formatTable, recordingInput, SvcCommand} from '../../src/cli/index.js'
import type {SpeechProbeV1} from '../../src/contracts/index.js'

export default class SpeechProbe extends SvcCommand<typeof SpeechProbe> {
  static override summary = 'Show the format and audio tracks of a recording.'
  static override description =
    `The number or the language of a track selects it in svc transcribe and svc speech subtitle, with --audio-track. The format is
detected from the content. The duration is that of the file, and is missing if the file does not contain it.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> film.mkv',
    '<%= config.bin %> <%= command.id %> film.mkv --json | jq -r .tracks[].language',
  ]
  static override args = {
    recording: Args.string({description: 'Audio or video file, or - for standard input.', required: true}),
  }

  async run(): Promise<void> {
    const {probeAudio} = await import('../../src/audio/index.js')
    const {recording} = this.args
    const {format, durationSec, tracks} = await probeAudio(recordingInput(recording), this.signal)
    const result: SpeechProbeV1 = {
      path: recording === '-' ? '-' : resolve(recording),
      format,
      duration_ms: durationSec === undefined ? null : Math.round(1000 * durationSec),
      tracks: tracks.map(({number, codec, sampleRate, layout, language, title, isDefault}) => ({
        number,
        codec,
        sample_rate: sampleRate,
        layout,
        language: language ?? null,
        title: title ?? null,
        default: isDefault,
      })),
    }
    await this.output.result(result, () => {
      const length = durationSec === undefined ? '' : `, ${durationSec.toFixed(1)} s`
      const rows = result.tracks.map((track) => [
        `${track.number}`,
        track.codec,
        `${track.sample_rate} Hz`,
        track.layout,
        track.language ?? '-',
        track.default ? 'yes' : 'no',
        track.title ?? '-',
      ])
      return `${format}${length}\n${formatTable(['TRACK', 'CODEC', 'RATE', 'LAYOUT', 'LANGUAGE', 'DEFAULT', 'TITLE'], rows)}`
    })
  }
}
