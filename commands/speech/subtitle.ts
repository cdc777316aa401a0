import {readFile} from 'node:fs/promises'
import {basename, dirname, extname, join, resolve} from 'node:path'
import {Args, Flags} from '@oclif/core'
import {
  audioTrackFlag,
  inGroup,
  overwriteFlag,
  recordingInput,
  SpeechCommand,
  speechFlags,
  subtitleFlags,
  subtitleShapeOf,
  trackOptions,
  withProgress,
} from '../../src/cli/index.js'
import type {SpeechSubtitleV1} from '../../src/contracts/index.js'
import {SvcError} from '../../src/errors/index.js'
import {checkOutputs, type OutputRule, writeOutput} from '../../src/files/index.js'
import type {TranscribedFile} from '../../src/speech/index.js'

export default class SpeechSubtitle extends SpeechCommand<typeof SpeechSubtitle> {
  static override summary = 'Generate subtitles for an audio or video file.'
  static override description =
    `Writes an SRT file next to the recording, or WebVTT if --output ends in .vtt. Lines break between words. Text that does
not fit in one subtitle is split at word timestamps. --reference compares the result with reference subtitles and
reports the word error rate.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> film.mp4',
    '<%= config.bin %> <%= command.id %> talk.wav -o talk.vtt --max-line-width 32',
    '<%= config.bin %> <%= command.id %> talk.wav --reference talk.srt --json | jq .comparison.word_error_rate',
  ]
  static override args = {
    recording: Args.string({description: 'Audio or video file, or - for standard input.', required: true}),
  }
  static override flags = {
    reference: Flags.string({
      description: 'Reference subtitles (SRT or WebVTT) to compare the result with.',
      helpValue: 'FILE',
      aliases: ['ground-truth-srt'],
    }),
    ...inGroup('output', {
      output: Flags.string({
        char: 'o',
        description:
          'Subtitle file (.srt or .vtt), or - for standard output. (default: next to the recording, as .srt; - for standard input)',
        helpValue: 'FILE',
      }),
      overwrite: overwriteFlag,
    }),
    ...subtitleFlags({width: ['line-width'], count: ['max-lines']}),
    ...inGroup('audio', {'audio-track': audioTrackFlag()}),
    ...speechFlags,
    ...inGroup('text', {
      refine: Flags.boolean({
        description: 'Clean up the text: spacing, common misrecognitions, lexicon. (default: on)',
        default: true,
        allowNo: true,
      }),
    }),
  }

  async run(): Promise<void> {
    const {recording} = this.args
    const outputPath = this.#outputPath()
    const rule = this.#rule()
    if (outputPath !== undefined) await checkOutputs([outputPath], rule)
    const reference = this.flags.reference === undefined ? undefined : await readText(resolve(this.flags.reference))
    const transcriber = await this.createTranscriber({
      refine: this.flags.refine,
      words: this.flags['highlight-words'] ? 'required' : 'preferred',
    })
    try {
      const {createProgress} = await import('../../src/speech/index.js')
      const result = await withProgress(`Transcribing ${basename(recording)}`, !this.flags.quiet, (show) => {
        const progress = createProgress(show)
        return transcriber.transcribe(recordingInput(recording), {
          ...trackOptions(this.flags['audio-track'], (text) => this.output.notice(text)),
          signal: this.signal,
          onStart: progress.start,
          onProgress: progress.advance,
          onWarning: ({message}) => this.output.notice(`warning: ${message}`),
        })
      })
      if (result.transcript.text.trim() === '') this.output.notice(`${recording}: no speech found.`)
      await this.#report(result, outputPath, rule, reference)
    } finally {
      await transcriber.close()
    }
  }

  /** Path of the subtitle file; undefined for standard output. @throws subtitle_format_unknown */
  #outputPath(): string | undefined {
    const {recording} = this.args
    const path =
      this.flags.output ??
      (recording === '-' ? '-' : join(dirname(recording), `${basename(recording, extname(recording))}.srt`))
    if (path === '-') return undefined
    if (!/\.(srt|vtt)$/i.test(path)) throw new SvcError('subtitle_format_unknown', {path})
    return resolve(path)
  }

  #rule(): OutputRule {
    const {overwrite = false, reference} = this.flags
    return {overwrite, inputs: [this.args.recording, ...(reference === undefined ? [] : [reference])]}
  }

  async #report(
    result: TranscribedFile,
    outputPath: string | undefined,
    rule: OutputRule,
    reference: string | undefined,
  ): Promise<void> {
    const {compareSubtitles, parseSubtitles, tracksPayload, writeTranscript} = await import('../../src/speech/index.js')
    const format = outputPath?.toLowerCase().endsWith('.vtt') ? 'vtt' : 'srt'
    const shape = subtitleShapeOf(this.flags)
    const written = (highlightWords?: boolean) => writeTranscript(format, result.transcript, {...shape, highlightWords})
    const text = written(shape.highlightWords)
    if (outputPath !== undefined) await writeOutput(outputPath, text, rule)
    const payload: SpeechSubtitleV1 = {
      path: this.args.recording === '-' ? '-' : resolve(this.args.recording),
      output_path: outputPath ?? null,
      format,
      blocks: parseSubtitles(text).length,
      language: result.transcript.language,
      duration_ms: Math.round(1000 * result.transcript.durationSec),
      ...(result.recording?.tracks === undefined ? {} : tracksPayload(result.recording.tracks)),
      ...(reference === undefined ? {} : {comparison: compareSubtitles(reference, written())}),
    }
    await this.output.result(payload, ({comparison}) => {
      if (comparison !== undefined)
        this.output.notice(
          `Word error rate ${percent(comparison.word_error_rate)}, character error rate ${percent(comparison.character_error_rate)}, timing offset ${Math.round(comparison.timing_offset_ms)} ms.`,
        )
      return outputPath ?? text
    })
  }
}

const percent = (rate: number) => `${(100 * rate).toFixed(1)} %`

const readText = (path: string): Promise<string> =>
  readFile(path, 'utf8').catch((error: unknown) => {
    throw SvcError.from(error)
  })
