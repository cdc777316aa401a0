import {randomUUID} from 'node:crypto'
import {existsSync} from 'node:fs'
import {rm} from 'node:fs/promises'
import {basename, resolve} from 'node:path'
import {Args, Flags} from '@oclif/core'
import {
  formatTable,
  overwriteFlag,
  positionFlag,
  recordingLimitFlags,
  SpeechCommand,
  sessionLimitsOf,
  speechFlags,
  withProgress,
} from '../src/cli/index.js'
import {speechSessionSettings} from '../src/config/index.js'
import type {TranscribeV1} from '../src/contracts/index.js'
import {asCliError, asText, Exit, SvcError} from '../src/errors/index.js'
import {checkOutputs, isFolder, type OutputRule, writeOutput} from '../src/files/index.js'
import type {
  TranscribedFile,
  TranscribeHandlers,
  Transcriber,
  TranscriptFormat,
  TranscriptFormatName,
} from '../src/speech/index.js'

/** Where transcripts are written, and in which format. */
interface Destination {
  format: TranscriptFormatName
  /** Output file per recording; empty if transcripts go to standard output. */
  files: ReadonlyMap<string, string>
  rule: OutputRule
}

/** Formats in which several transcripts can share one output. */
const joinable = new Set(['text', 'json', 'verbose_json', 'ndjson'])

export default class Transcribe extends SpeechCommand<typeof Transcribe> {
  static override summary = 'Transcribe audio files to text.'
  static override description =
    `WAV, FLAC, MP3 and Ogg are decoded directly, all other formats through ffmpeg. The format is detected from the content,
not from the file name. If a directory is given, all recordings in it are transcribed, with --recursive also those in
its subdirectories. A .txt or .md file is treated as a transcript and only cleaned up.

Each segment is printed as soon as it is final; with --domain code or --profile aggressive, that is at the end. If one
of several recordings fails, the error is reported, the others are still transcribed, and the exit status is 1. --json
prints one object per recording.

The model is a directory, a whisper.cpp file, or a Hugging Face id such as openai/whisper-base, which is downloaded
once. Without --model, openai/whisper-tiny.en is used if it is cached, and otherwise the included starter model; nothing
is downloaded.

--output is a directory, created if missing; output files keep the relative paths of the recordings. For a single
recording it can also be a file such as talk.srt; the extension selects the format. Until a transcript is complete, its
finished parts are kept next to it, in a file such as talk.srt.progress, from which --resume continues.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> meeting.wav',
    '<%= config.bin %> <%= command.id %> talks/ --model openai/whisper-base --format srt --output subtitles',
    'ffmpeg -v error -i film.mkv -f wav - | <%= config.bin %> <%= command.id %> - --format vtt > film.vtt',
    '<%= config.bin %> <%= command.id %> *.mp3 --json | jq -r .text',
  ]
  static override args = {
    recording: Args.string({
      description: 'Files or directories; - reads standard input.',
      multiple: true,
    }),
  }
  static override flags = {
    ...speechFlags,
    ...recordingLimitFlags,
    'debug-parser-payload': Flags.boolean({description: 'Include the corrections and settings in the JSON result.'}),
    refine: Flags.boolean({
      description: 'Clean up the text: spacing, common misrecognitions, lexicon. (default: on)',
      default: true,
      allowNo: true,
    }),
    format: Flags.custom<TranscriptFormatName>({
      char: 'f',
      description: 'Output format; txt is an alias for text. (default: text, or the format of the --output file)',
      options: ['text', 'txt', 'json', 'verbose_json', 'srt', 'vtt', 'lrc', 'tsv', 'csv', 'ndjson'],
      parse: async (name) => (name === 'txt' ? 'text' : name) as TranscriptFormatName,
    })(),
    output: Flags.string({
      char: 'o',
      description: 'Output directory, or output file for a single recording; - is standard output. (default: -)',
      helpValue: 'PATH',
      aliases: ['output-dir'],
    }),
    recursive: Flags.boolean({
      char: 'r',
      description: 'Also transcribe the recordings in subdirectories of directories.',
    }),
    overwrite: overwriteFlag,
    resume: Flags.boolean({
      description: 'Continue an interrupted run: skip existing output files, and use the finished parts of recordings.',
      dependsOn: ['output'],
    }),
    offset: positionFlag({
      description: 'Start of the part to transcribe; times stay those of the recording. (default: 0)',
    }),
    duration: positionFlag({description: 'Length of the part to transcribe. (default: up to the end)'}),
    stats: Flags.boolean({description: 'Print speed, windows, tokens and peak memory to standard error.'}),
    strict: Flags.boolean({description: 'Exit with status 1 if a recording is damaged, even if it was transcribed.'}),
    'raw-encoding': Flags.option({
      description: 'Sample encoding of raw recordings (PCM without a header).',
      options: ['u8', 's16le', 's24le', 's32le', 'f32le', 'f64le'] as const,
    })(),
    'raw-rate': Flags.integer({
      description: 'Sample rate of raw recordings in Hz.',
      default: 16_000,
      min: 1000,
      max: 768_000,
      helpValue: 'HZ',
    }),
    'raw-channels': Flags.integer({
      description: 'Number of channels of raw recordings.',
      default: 1,
      min: 1,
      max: 64,
      helpValue: 'N',
    }),
  }

  async run(): Promise<void> {
    if (this.argumentList.length === 0) throw new SvcError('recording_missing', {})
    const {listRecordings} = await import('../src/speech/index.js')
    const recordings = await listRecordings(this.argumentList, {recursive: this.flags.recursive === true})
    const destination = await this.#destination(recordings)
    const several = recordings.length > 1
    if (several && destination.files.size === 0 && !this.output.json && !joinable.has(destination.format))
      throw new SvcError('output_dir_needed', {format: destination.format})
    const transcriber = await this.createTranscriber({refine: this.flags.refine})
    let failed = false
    try {
      // The keys of `files` are unique: a recording given twice is written once.
      for (const recording of destination.files.size > 0 ? destination.files.keys() : recordings)
        try {
          const damage = await this.#transcribe(transcriber, recording, destination)
          if (this.flags.strict === true && damage > 0) failed = true
        } catch (error) {
          const isOfRecording = error instanceof SvcError && !transcriber.isUnusable
          if (!several || this.signal.aborted || !isOfRecording) throw error
          failed = true
          await this.#reportFailure(recording, error)
        }
    } finally {
      await transcriber.close()
    }
    if (failed) this.exit(Exit.failed)
  }

  /** @throws output_exists, output_is_input, usage */
  async #destination(recordings: readonly string[]): Promise<Destination> {
    const {format, output, overwrite = false} = this.flags
    const {createFormat, formatOfFile, outputPaths} = await import('../src/speech/index.js')
    const rule = {overwrite, inputs: recordings}
    if (output === undefined || output === '-') return {format: format ?? 'text', files: new Map(), rule}
    const named = recordings.length === 1 && !(await isFolder(output)) ? formatOfFile(output) : undefined
    const chosen = format ?? named ?? 'text'
    const {extension} = createFormat(chosen)
    if (named !== undefined && !output.toLowerCase().endsWith(extension))
      throw new SvcError('usage', {reason: `--format ${chosen} does not match the extension of ${basename(output)}.`})
    const files =
      named === undefined
        ? outputPaths(recordings, resolve(output), extension)
        : new Map(recordings.map((recording) => [recording, resolve(output)]))
    // With --resume, existing files are complete, and are skipped.
    await checkOutputs(files.values(), {...rule, overwrite: overwrite || this.flags.resume === true})
    return {format: chosen, files, rule}
  }

  /** Returns the number of warnings about the audio. */
  async #transcribe(transcriber: Transcriber, recording: string, {format, files, rule}: Destination): Promise<number> {
    const {createFormat, createProgress, writeTranscript} = await import('../src/speech/index.js')
    const file = files.get(recording)
    if (file !== undefined && this.flags.resume === true && !rule.overwrite && existsSync(file)) {
      this.output.notice(`${file} already exists, so ${recording} is skipped.`)
      return 0
    }
    const progressFile = await this.#progressFile(recording, file)
    const writer = createFormat(format)
    const streams = file === undefined && !this.output.json
    const print = this.#printer(writer)
    // Segments printed on the terminal already show the progress.
    const isVisible = !this.flags.quiet && !(streams && process.stdout.isTTY)
    const {file: result, diagnostics} = await withProgress(`Transcribing ${basename(recording)}`, isVisible, (show) => {
      const progress = createProgress(show)
      return this.#read(transcriber, recording, {
        progress: progressFile,
        onStart: progress.start,
        onProgress: progress.advance,
        ...(streams ? {onSegment: (segment) => print(writer.segment(segment))} : {}),
      })
    })
    if (result.transcript.text.trim() === '') this.output.notice(`${recording}: no speech found.`)
    const damage = result.recording?.warnings.filter(({code}) => code.startsWith('audio_')).length ?? 0
    if (streams) {
      await print(writer.footer(result.transcript))
      await this.#printStats(result)
      return damage
    }
    if (file !== undefined) await writeOutput(file, writeTranscript(format, result.transcript), rule)
    if (progressFile !== undefined) await rm(progressFile.path, {force: true})
    const payload = await this.#payload(recording, result, diagnostics, file)
    await this.output.result(payload, () => `${file ?? ''}\n`)
    await this.#printStats(result)
    return damage
  }

  /** Prints the figures of a recording; with --json, they are in its result. */
  async #printStats({recording, transcript}: TranscribedFile): Promise<void> {
    if (!this.flags.stats || this.output.json || recording === undefined) return
    const {timingsPayload} = await import('../src/speech/index.js')
    const {total_ms, load_ms, rtf, windows, whole_heads} = timingsPayload(recording, transcript.durationSec)
    const {segments, durationSec} = transcript
    const tokens = segments.reduce((sum, segment) => sum + segment.tokens.length, 0)
    const temperatures = [...new Set(segments.map(({temperature}) => temperature))].sort((a, b) => a - b)
    const figures = [
      ['audio', `${durationSec.toFixed(1)} s`],
      ['load time', `${load_ms} ms`],
      ['processing time', `${((total_ms - load_ms) / 1000).toFixed(1)} s, real-time factor ${rtf}`],
      ['windows', `${windows}`],
      ['tokens', `${tokens}; whole vocabulary computed for ${whole_heads}`],
      ['temperatures', temperatures.join(', ') || '-'],
      ['peak memory', `${Math.round(process.resourceUsage().maxRSS / 1024)} MB`],
    ]
    this.output.notice(formatTable(['FIGURE', 'VALUE'], figures).trimEnd())
  }

  /** @throws usage if the recording or the output is a stream and --resume is set */
  async #progressFile(recording: string, file: string | undefined): Promise<TranscribeHandlers['progress']> {
    if (file === undefined) return undefined
    const {progressPath} = await import('../src/speech/index.js')
    const path = await progressPath(resolve(recording), file)
    const {resume = false} = this.flags
    if (path !== undefined) return {path, resume}
    if (resume) throw new SvcError('usage', {reason: `--resume requires files; ${recording} or ${file} is a stream.`})
    return undefined
  }

  /** Returns a print function that precedes the first piece with the header of the format. */
  #printer(writer: TranscriptFormat): (text: string) => Promise<void> {
    let hasStarted = false
    return async (text) => {
      const header = hasStarted ? '' : writer.header()
      hasStarted = true
      await this.output.piece(header + text)
    }
  }

  async #read(
    transcriber: Transcriber,
    recording: string,
    handlers: TranscribeHandlers,
  ): ReturnType<typeof import('../src/speech/index.js')['transcribeWithin']> {
    const {'raw-encoding': encoding, 'raw-rate': rate, 'raw-channels': channels} = this.flags
    const raw = encoding === undefined ? undefined : {encoding, sampleRate: rate, channels}
    const input =
      recording === '-' ? {name: 'standard input', stream: process.stdin, raw} : {path: resolve(recording), raw}
    const {offset, duration} = this.flags
    const excerpt =
      offset === undefined && duration === undefined ? undefined : {offsetSec: offset ?? 0, durationSec: duration}
    const partial = await this.partialWriter()
    const {sessionLimits, transcribeWithin} = await import('../src/speech/index.js')
    return transcribeWithin(sessionLimits(sessionLimitsOf(this.flags), {}), transcriber, input, {
      ...handlers,
      excerpt,
      signal: this.signal,
      onWarning: ({message}) => this.output.notice(`warning: ${message}`),
      onStart: (durationSec) => {
        partial?.start(durationSec)
        handlers.onStart?.(durationSec)
      },
      onChunk: partial?.write,
    })
  }

  async #payload(
    recording: string,
    result: TranscribedFile,
    diagnostics: NonNullable<TranscribeV1['deadline_diagnostics']>,
    file: string | undefined,
  ): Promise<TranscribeV1> {
    const {transcribePayload} = await import('../src/speech/index.js')
    const payload = transcribePayload(result, {
      path: recording === '-' ? '-' : resolve(recording),
      correlationId: randomUUID(),
      refined: this.flags.refine,
      minConfidence: this.settings(speechSessionSettings).toolRouteMinConfidence,
      diagnostics,
      runtime: this.flags['debug-parser-payload'] === true ? this.speechRuntime() : undefined,
    })
    return file === undefined ? payload : {...payload, output_path: file}
  }

  async #reportFailure(recording: string, error: SvcError): Promise<void> {
    await this.output.event({path: recording === '-' ? '-' : resolve(recording), ...asCliError(error)})
    if (!this.output.json) process.stderr.write(asText(error))
  }
}
