import {readFile} from 'node:fs/promises'
import {basename, dirname, extname, join, resolve} from 'node:path'
import {Args, Flags} from '@oclif/core'
import {overwriteFlag, SpeechCommand, speechFlags, withProgress} from '../../src/cli/index.js'
import type {SpeechSubtitleV1} from '../../src/contracts/index.js'
import {SvcError} from '../../src/errors/index.js'
import {checkOutputs, type OutputRule, writeOutput} from '../../src/files/index.js'
import type {TranscribedFile} from '../../src/speech/index.js'

export default class SpeechSubtitle extends SpeechCommand<typeof SpeechSubtitle> {
  static override summary = 'Write subtitles for a recording or a film.'
  static override description =
    `Writes an SRT file beside the recording, or WebVTT where the output ends in .vtt. Lines are broken at words; text that
does not fit on the screen at once is shown in several blocks, at the times of its words. With --reference the result
is compared to subtitles that are known to be right.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> film.mp4',
    '<%= config.bin %> <%= command.id %> talk.wav -o talk.vtt --line-width 32',
    '<%= config.bin %> <%= command.id %> talk.wav --reference talk.srt --json | jq .word_error_rate',
  ]
  static override args = {
    recording: Args.string({description: 'The recording.', required: true}),
  }
  static override flags = {
    ...speechFlags,
    refine: Flags.boolean({
      description: 'Put the text right: blanks, words that were misheard, words of the lexicon.',
      default: true,
      allowNo: true,
    }),
    output: Flags.string({
      char: 'o',
      description: 'The subtitle file, .srt or .vtt; - is standard output. Left out, it lies beside the recording.',
      helpValue: 'FILE',
    }),
    overwrite: overwriteFlag,
    'line-width': Flags.integer({description: 'Most characters of a line.', default: 42, min: 8, max: 200}),
    'max-lines': Flags.integer({description: 'Most lines that are shown at once.', default: 2, min: 1, max: 10}),
    reference: Flags.string({
      description: 'SRT or WebVTT file to compare the result with.',
      helpValue: 'FILE',
      aliases: ['ground-truth-srt'],
    }),
  }

  async run(): Promise<void> {
    const {recording} = this.args
    const place = this.#place()
    const rule = this.#rule()
    if (place !== undefined) await checkOutputs([place], rule)
    const reference = this.flags.reference === undefined ? undefined : await readText(resolve(this.flags.reference))
    const transcriber = await this.createTranscriber({refine: this.flags.refine, prefersWords: true})
    try {
      const {createProgress} = await import('../../src/speech/index.js')
      const result = await withProgress(`Listening to ${basename(recording)}`, !this.flags.quiet, (show) => {
        const progress = createProgress(show)
        return transcriber.transcribe(
          {path: resolve(recording)},
          {
            signal: this.signal,
            onStart: progress.start,
            onProgress: progress.advance,
            onWarning: ({message}) => this.output.notice(`warning: ${message}`),
          },
        )
      })
      if (result.transcript.text.trim() === '') this.output.notice(`${recording}: no speech was found.`)
      await this.#report(result, place, rule, reference)
    } finally {
      await transcriber.close()
    }
  }

  /** Where the subtitles go; undefined is standard output. @throws subtitle_format_unknown */
  #place(): string | undefined {
    const {recording} = this.args
    const given = this.flags.output ?? join(dirname(recording), `${basename(recording, extname(recording))}.srt`)
    if (given === '-') return undefined
    if (!/\.(srt|vtt)$/i.test(given)) throw new SvcError('subtitle_format_unknown', {path: given})
    return resolve(given)
  }

  #rule(): OutputRule {
    const {overwrite = false, reference} = this.flags
    return {overwrite, inputs: [this.args.recording, ...(reference === undefined ? [] : [reference])]}
  }

  async #report(
    result: TranscribedFile,
    place: string | undefined,
    rule: OutputRule,
    reference: string | undefined,
  ): Promise<void> {
    const {compareSubtitles, parseSubtitles, writeTranscript} = await import('../../src/speech/index.js')
    const format = place?.toLowerCase().endsWith('.vtt') ? 'vtt' : 'srt'
    const shape = {lineWidth: this.flags['line-width'], maxLines: this.flags['max-lines']}
    const text = writeTranscript(format, result.transcript, shape)
    if (place !== undefined) await writeOutput(place, text, rule)
    const payload: SpeechSubtitleV1 = {
      path: resolve(this.args.recording),
      output_path: place ?? null,
      format,
      blocks: parseSubtitles(text).length,
      language: result.transcript.language,
      duration_ms: Math.round(1000 * result.transcript.durationSec),
      ...(reference === undefined ? {} : {comparison: compareSubtitles(reference, text)}),
    }
    await this.output.result(payload, ({comparison}) => {
      if (comparison !== undefined)
        this.output.notice(
          `word error rate ${percent(comparison.word_error_rate)}, character error rate ${percent(comparison.character_error_rate)}, times off by ${Math.round(comparison.timing_offset_ms)} ms`,
        )
      return place ?? text
    })
  }
}

const percent = (rate: number) => `${(100 * rate).toFixed(1)} %`

const readText = (path: string): Promise<string> =>
  readFile(path, 'utf8').catch((error: unknown) => {
    throw SvcError.from(error)
  })
