import {randomUUID} from 'node:crypto'
import {basename, join, resolve} from 'node:path'
import {Args, Flags} from '@oclif/core'
import {SpeechCommand, speechFlags, withProgress, writeOutputFile} from '../src/cli/index.js'
import {speechAudioSettings, speechSessionSettings, speechSettings} from '../src/config/index.js'
import type {TranscribeV1} from '../src/contracts/index.js'
import {asCliError, asText, Exit, SvcError} from '../src/errors/index.js'
import type {TranscribedFile, TranscribeHandlers, Transcriber, TranscriptFormat} from '../src/speech/index.js'

/** Formats of which several transcripts can follow each other. */
const joinable = new Set(['text', 'json', 'verbose_json', 'ndjson'])

export default class Transcribe extends SpeechCommand<typeof Transcribe> {
  static override summary = 'Write down what is said in recordings.'
  static override description =
    `Reads WAV, FLAC, MP3 and Ogg by itself and any other format through ffmpeg; the content decides, not the name. A
folder stands for the recordings in it, - for standard input, and a .txt or .md file for a text that was said.

Segments are printed when they are final. One model is loaded for all recordings; one that fails is reported, the
others go on, and the status is 1 at the end. --json prints one object per recording with everything that is known.

The model is a directory, a whisper.cpp file, or an id such as openai/whisper-base, which is downloaded once. Without
--model the cached openai/whisper-tiny.en is used; nothing is downloaded that was not asked for.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> meeting.wav',
    '<%= config.bin %> <%= command.id %> talks/ --model openai/whisper-base --format srt --output-dir subtitles',
    'ffmpeg -v error -i film.mkv -f wav - | <%= config.bin %> <%= command.id %> - --format vtt > film.vtt',
    '<%= config.bin %> <%= command.id %> *.mp3 --json | jq -r .text',
  ]
  static override strict = false
  static override args = {
    recording: Args.string({description: 'Files or folders, any number of them; - reads standard input.'}),
  }
  static override flags = {
    ...speechFlags,
    refine: Flags.boolean({
      description: 'Put the text right: blanks, words that were misheard, words of the lexicon.',
      default: true,
      allowNo: true,
    }),
    format: Flags.option({
      char: 'f',
      description: 'How transcripts are written.',
      options: ['text', 'json', 'verbose_json', 'srt', 'vtt', 'tsv', 'ndjson'] as const,
      default: 'text',
    })(),
    'output-dir': Flags.string({
      char: 'o',
      description: 'Write one file per recording into this folder, in place of standard output.',
      helpValue: 'DIR',
    }),
    'raw-encoding': Flags.option({
      description: 'The recordings are bare samples of this encoding, without a header.',
      options: ['u8', 's16le', 's24le', 's32le', 'f32le', 'f64le'] as const,
    })(),
    'raw-rate': Flags.integer({description: 'Samples per second of bare samples.', default: 16_000, min: 1000}),
    'raw-channels': Flags.integer({description: 'Channels of bare samples.', default: 1, min: 1, max: 64}),
  }

  async run(): Promise<void> {
    const {format, 'output-dir': folder, refine} = this.flags
    if (this.argumentList.length === 0) throw new SvcError('recording_missing', {})
    const {listRecordings} = await import('../src/speech/index.js')
    const recordings = await listRecordings(this.argumentList)
    const several = recordings.length > 1
    if (several && folder === undefined && !this.output.json && !joinable.has(format))
      throw new SvcError('output_dir_needed', {format})
    const transcriber = await this.createTranscriber({refine})
    let failed = false
    try {
      const files = await this.#outputFiles(recordings)
      for (const recording of recordings)
        try {
          await this.#transcribe(transcriber, recording, files.get(recording))
        } catch (error) {
          if (!several || this.signal.aborted || !(error instanceof SvcError)) throw error
          failed = true
          await this.#reportFailure(recording, error)
        }
    } finally {
      await transcriber.close()
    }
    if (failed) this.exit(Exit.failed)
  }

  /** Where each transcript goes; nowhere without a folder for them. */
  async #outputFiles(recordings: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const {format, 'output-dir': folder} = this.flags
    if (folder === undefined) return new Map()
    const {createFormat, outputNames} = await import('../src/speech/index.js')
    const names = outputNames(recordings, createFormat(format).extension)
    return new Map([...names].map(([recording, name]) => [recording, join(resolve(folder), name)]))
  }

  async #transcribe(transcriber: Transcriber, recording: string, file: string | undefined): Promise<void> {
    const {createFormat, createMeter, writeTranscript} = await import('../src/speech/index.js')
    const writer = createFormat(this.flags.format)
    const streams = file === undefined && !this.output.json
    const print = this.#printer(writer)
    // Segments that appear on the terminal are progress enough.
    const shown = !this.flags.quiet && !(streams && process.stdout.isTTY)
    const result = await withProgress(`Transcribing ${basename(recording)}`, shown, (show) => {
      const meter = createMeter(show)
      return this.#read(transcriber, recording, {
        onStart: meter.start,
        onProgress: meter.advance,
        ...(streams ? {onSegment: (segment) => print(writer.segment(segment))} : {}),
      })
    })
    if (streams) return print(writer.footer(result.transcript))
    if (file !== undefined) await writeOutputFile(file, writeTranscript(this.flags.format, result.transcript))
    const payload = await this.#payload(recording, result, file)
    await this.output.result(payload, () => `${file ?? ''}\n`)
  }

  /** Prints the header before the first piece. */
  #printer(writer: TranscriptFormat): (text: string) => Promise<void> {
    let begun = false
    return async (text) => {
      const header = begun ? '' : writer.header()
      begun = true
      await this.output.piece(header + text)
    }
  }

  async #read(transcriber: Transcriber, recording: string, handlers: TranscribeHandlers): Promise<TranscribedFile> {
    const {'raw-encoding': encoding, 'raw-rate': rate, 'raw-channels': channels} = this.flags
    const raw = encoding === undefined ? undefined : {encoding, sampleRate: rate, channels}
    const input =
      recording === '-' ? {name: 'standard input', stream: process.stdin, raw} : {path: resolve(recording), raw}
    const partial = await this.#partial()
    return transcriber.transcribe(input, {
      ...handlers,
      signal: this.signal,
      onWarning: ({message}) => this.output.notice(`warning: ${message}`),
      onStart: (durationSec) => {
        partial?.start(durationSec)
        handlers.onStart?.(durationSec)
      },
      onChunk: partial?.write,
    })
  }

  /** The file for onlookers, where one is asked for. */
  async #partial() {
    const {emitPartialPath} = this.settings(speechSettings)
    if (emitPartialPath === undefined) return undefined
    const {partialWriter} = await import('../src/speech/index.js')
    const {chunkSec} = this.settings(speechAudioSettings)
    return partialWriter(resolve(emitPartialPath), {sessionId: randomUUID(), chunkSec})
  }

  async #payload(recording: string, result: TranscribedFile, file: string | undefined): Promise<TranscribeV1> {
    const {transcribePayload} = await import('../src/speech/index.js')
    const payload = transcribePayload(result, {
      path: recording === '-' ? '-' : resolve(recording),
      correlationId: randomUUID(),
      refined: this.flags.refine,
      minConfidence: this.settings(speechSessionSettings).toolRouteMinConfidence,
    })
    return file === undefined ? payload : {...payload, output_path: file}
  }

  async #reportFailure(recording: string, error: SvcError): Promise<void> {
    await this.output.event({path: recording === '-' ? '-' : resolve(recording), ...asCliError(error)})
    if (!this.output.json) process.stderr.write(asText(error))
  }
}
