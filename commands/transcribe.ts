import {randomUUID} from 'node:crypto'
import {existsSync} from 'node:fs'
import {rm} from 'node:fs/promises'
import {availableParallelism} from 'node:os'
import {basename, relative, resolve} from 'node:path'
import {Args, Flags} from '@oclif/core'
import {
  audioTrackFlag,
  formatTable,
  inGroup,
  OutputTurn,
  overwriteFlag,
  positionFlag,
  recordingInput,
  recordingLimitFlags,
  refuseForeign,
  SpeechCommand,
  sessionLimitsOf,
  speechFlags,
  stopped,
  subtitleFlags,
  subtitleShapeOf,
  trackOptions,
  withProgress,
} from '../src/cli/index.js'
import {speechSessionSettings} from '../src/config/index.js'
import type {DetectLanguageV1, TranscribeV1} from '../src/contracts/index.js'
import {asCliError, asText, counted, Exit, SvcError} from '../src/errors/index.js'
import {checkOutputs, isFolder, type OutputRule, writeOutput} from '../src/files/index.js'
import type {
  AudioInput,
  ListedRecording,
  TranscribedFile,
  TranscribeHandlers,
  Transcriber,
  TranscriptFormatName,
} from '../src/speech/index.js'

/** Where transcripts are written, and in which formats. */
interface Destination {
  formats: readonly TranscriptFormatName[]
  /** Output files per recording, one per format; empty if transcripts go to standard output. */
  files: ReadonlyMap<string, readonly string[]>
  rule: OutputRule
}

/** Number of recordings from which short ones are transcribed together: a second model takes time to start. */
const fewestTogether = 4

/** Number of recordings that are transcribed at the same time or wait for their output: one more than models work. */
const maxStarted = Math.min(availableParallelism(), 4) + 1

/** A recording whose transcription can begin before the output of earlier ones has ended. */
class Job {
  readonly turn = new OutputTurn()
  /** What shows its progress and prints its segments when its turn has come. */
  handlers: Pick<TranscribeHandlers, 'onStart' | 'onProgress' | 'onSegment'> = {}
  /** Outputs that exist and are kept, once that was checked. */
  kept: ReadonlySet<string> | undefined
  #result: Promise<TranscribedWithin> | undefined

  /** @param paths output files, one per format */
  constructor(
    readonly recording: string,
    readonly paths: readonly string[],
  ) {}

  /** The transcription, if it has begun. */
  get result(): Promise<TranscribedWithin> | undefined {
    return this.#result
  }

  /** Begins on the first call. */
  begin(transcribe: (job: Job) => Promise<TranscribedWithin>): Promise<TranscribedWithin> {
    if (this.#result === undefined) {
      this.#result = transcribe(this)
      // A failure is reported when the turn of the recording comes.
      this.#result.catch(() => undefined)
    }
    return this.#result
  }
}

type TranscribedWithin = Awaited<ReturnType<typeof import('../src/speech/index.js')['transcribeWithin']>>

/** Starts the text of each recording, as head and tail do for several files. */
const titles = () => {
  let separator = ''
  return (recording: string) => {
    const title = `${separator}==> ${recording === '-' ? 'standard input' : recording} <==\n`
    separator = '\n'
    return title
  }
}

/** True for a warning about damaged audio. */
const isDamage = ({code}: {code: string}): boolean => code.startsWith('audio_')

/** Number of skipped files that are named. */
const mostNamed = 3

function skippedNotice(folder: string, files: readonly string[], kind: string): string {
  const names = files.slice(0, mostNamed).map((file) => relative(folder, file))
  const list = [...names, ...(files.length > mostNamed ? ['…'] : [])].join(', ')
  return `Skipped ${counted(files.length, 'file')} ${kind} in ${folder}: ${list}`
}

/** Formats in which several transcripts can share one output. */
const joinable = new Set(['text', 'json', 'verbose_json', 'ndjson'])

const subtitleFormats = new Set<string>(['srt', 'vtt'])

export default class Transcribe extends SpeechCommand<typeof Transcribe> {
  static override summary = 'Transcribe audio files to text.'
  static override description =
    `WAV, FLAC, MP3 and Ogg are decoded directly, all other formats through ffmpeg. The format is detected from the content,
not from the file name. If a directory is given, all recordings in it are transcribed, with --recursive also those in
its subdirectories. A .txt or .md file is treated as a transcript and only cleaned up.

Each segment is printed as soon as it is final; with --domain code or --profile aggressive, that is at the end. If one
of several recordings fails, the error is reported, the others are still transcribed, and the exit status is 1. From four
recordings on, those of up to a minute are transcribed at the same time; the output keeps the order. --json
prints one object per recording; with several recordings, text has a line with the name of each, as of head and tail.

The model is a directory, a whisper.cpp file, or a Hugging Face id such as openai/whisper-base, which is downloaded
once. Without --model, openai/whisper-tiny.en is used if it is cached, and otherwise the included starter model; nothing
is downloaded.

--output is a directory, created if missing. Output files of the recordings of a directory keep their paths relative to
it; those of recordings that are named are directly in it, and must have different names. For a single
recording and format it can also be a file such as talk.srt; the extension selects the format. Until a transcript is complete, its
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
    recursive: Flags.boolean({
      char: 'r',
      description: 'Also transcribe the recordings in subdirectories of directories.',
    }),
    ...inGroup('output', {
      output: Flags.string({
        char: 'o',
        description: 'Output directory, or output file for a single recording; - is standard output. (default: -)',
        helpValue: 'PATH',
        aliases: ['output-dir'],
      }),
      overwrite: overwriteFlag,
      format: Flags.custom<TranscriptFormatName | 'all'>({
        char: 'f',
        description:
          'Output formats, separated by commas; all is every format, with verbose_json as .json. (default: text, or the format of the --output file)',
        options: ['text', 'txt', 'json', 'verbose_json', 'srt', 'vtt', 'lrc', 'tsv', 'csv', 'ndjson', 'all'],
        parse: async (name) => (name === 'txt' ? 'text' : name) as TranscriptFormatName | 'all',
      })({multiple: true, multipleNonGreedy: true, delimiter: ','}),
      resume: Flags.boolean({
        description:
          'Continue an interrupted run: skip existing output files, and use the finished parts of recordings.',
        dependsOn: ['output'],
      }),
      stats: Flags.boolean({description: 'Print speed, windows, tokens and peak memory to standard error.'}),
      strict: Flags.boolean({description: 'Exit with status 1 if a recording is damaged, even if it was transcribed.'}),
      'debug-parser-payload': Flags.boolean({description: 'Include the corrections and settings in the JSON result.'}),
    }),
    ...subtitleFlags(),
    ...speechFlags,
    ...inGroup('recognition', {
      'detect-language': Flags.boolean({
        description: 'Print the spoken language and its probability, and transcribe nothing.',
        exclusive: ['format', 'output', 'resume', 'language'],
      }),
    }),
    ...inGroup('text', {
      refine: Flags.boolean({
        description: 'Clean up the text: spacing, common misrecognitions, lexicon. (default: on)',
        default: true,
        allowNo: true,
      }),
    }),
    ...inGroup('audio', {
      'audio-track': audioTrackFlag(),
      offset: positionFlag({
        description: 'Start of the part to transcribe; times stay those of the recording. (default: 0)',
      }),
      duration: positionFlag({description: 'Length of the part to transcribe. (default: up to the end)'}),
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
    }),
    ...recordingLimitFlags,
  }

  /** True if the model has probably not understood a recording. */
  #isUnreliable = false

  protected override async init(): Promise<void> {
    refuseForeign(this.argv)
    await super.init()
  }

  protected override get whenUnread() {
    // Files are written even if the list of them is not read.
    return [undefined, '-'].includes(this.flags.output) ? 'fails' : 'finishes'
  }

  async run(): Promise<void> {
    if (this.argumentList.length === 0) throw new SvcError('recording_missing', {})
    const {listRecordings} = await import('../src/speech/index.js')
    const listed = await listRecordings(this.argumentList, {
      recursive: this.flags.recursive === true,
      onSkipped: ({folder, withoutAudio, unreadable}) => {
        if (withoutAudio.length > 0) this.output.notice(skippedNotice(folder, withoutAudio, 'without audio'))
        if (unreadable.length > 0) this.output.notice(skippedNotice(folder, unreadable, 'that cannot be read'))
      },
    })
    const recordings = listed.map(({path}) => path)
    await this.checkPartialFile(recordings)
    const destination = await this.#destination(listed)
    const several = recordings.length > 1
    const {formats, files} = destination
    const isJoinable =
      formats.length === 1 && (!several || this.output.json || formats.every((name) => joinable.has(name)))
    if (files.size === 0 && !isJoinable) throw new SvcError('output_dir_needed', {formats})
    const title = several && files.size === 0 && formats[0] === 'text' ? titles() : () => ''
    // The keys of `files` are unique: a recording given twice is written once.
    const unique = files.size > 0 ? [...files.keys()] : recordings
    const together = unique.length >= fewestTogether && this.#canRunTogether
    const words = this.#words(destination)
    const transcriber = await this.createTranscriber({refine: this.flags.refine, words, together})
    const stop = new AbortController()
    const signal = AbortSignal.any([this.signal, stop.signal])
    const jobs = unique.map((recording) => new Job(recording, files.get(recording) ?? []))
    const begin = (job: Job) => job.begin(() => this.#read(transcriber, job, signal))
    let failed = false
    try {
      for (const [i, job] of jobs.entries())
        try {
          const damage =
            this.flags['detect-language'] === true
              ? await this.#detectLanguage(transcriber, job.recording, several)
              : await this.#transcribe(job, destination, title, () => {
                  const result = begin(job)
                  const next = together ? jobs.slice(i + 1, i + maxStarted) : []
                  for (const other of next) if (!this.#isComplete(other)) begin(other)
                  return result
                })
          if (this.flags.strict === true && damage > 0) failed = true
        } catch (error) {
          const isOfRecording = error instanceof SvcError && !transcriber.isGeneral(error)
          if (!several || this.signal.aborted || !isOfRecording) throw error
          failed = true
          await this.#reportFailure(job.recording, error)
        }
    } finally {
      stop.abort(new SvcError('interrupted', {}))
      await Promise.allSettled(jobs.flatMap(({result}) => result ?? []))
      await transcriber.close()
    }
    if (this.#isUnreliable) await this.offerBetterModel()
    if (failed) this.exit(Exit.failed)
  }

  /** Subtitles are split at word timestamps. @throws usage if flags of subtitles do not apply to the format */
  #words({formats}: Destination): 'preferred' | 'required' | undefined {
    const flag = Object.keys(subtitleFlags()).find((name) => name in this.flags)
    if (flag === undefined) return undefined
    if (!formats.some((name) => subtitleFormats.has(name)))
      throw new SvcError('usage', {reason: `--${flag} applies to srt and vtt, but the format is ${formats}.`})
    return this.flags['highlight-words'] === true ? 'required' : 'preferred'
  }

  /** @throws output_exists, output_is_input, output_extension_unknown, usage */
  async #destination(recordings: readonly ListedRecording[]): Promise<Destination> {
    const {output, overwrite = false} = this.flags
    const {createFormat, formatOfFile, hasForeignExtension, outputPaths, transcriptFormats} = await import(
      '../src/speech/index.js'
    )
    const rule = {overwrite, inputs: recordings.map(({path}) => path)}
    const every = transcriptFormats.filter((name) => name !== 'json')
    const requested = [...new Set(this.flags.format?.flatMap((name) => (name === 'all' ? every : [name])))]
    if (output === undefined || output === '-')
      return {formats: requested.length > 0 ? requested : ['text'], files: new Map(), rule}
    const named = recordings.length === 1 && !(await isFolder(output)) ? formatOfFile(output) : undefined
    if (named === undefined && hasForeignExtension(output) && !(await isFolder(output))) {
      const extensions = [...new Set(transcriptFormats.map((name) => createFormat(name).extension))].join(', ')
      throw new SvcError('output_extension_unknown', {path: output, extensions})
    }
    const formats = requested.length > 0 ? requested : [named ?? 'text']
    const extensions = formats.map((name) => createFormat(name).extension)
    if (new Set(extensions).size < formats.length)
      throw new SvcError('usage', {reason: 'The files of --format json and verbose_json would have the same name.'})
    if (named !== undefined && !extensions.every((extension) => output.toLowerCase().endsWith(extension)))
      throw new SvcError('usage', {reason: `--format ${formats} does not match the extension of ${basename(output)}.`})
    const paths = extensions.map((extension) =>
      named === undefined
        ? outputPaths(recordings, resolve(output), extension)
        : new Map(recordings.map(({path}) => [path, resolve(output)])),
    )
    const unique = [...(paths[0]?.keys() ?? [])]
    const files = new Map(unique.map((recording) => [recording, paths.map((of) => of.get(recording) as string)]))
    // With --resume, existing files are complete, and are skipped.
    await checkOutputs([...files.values()].flat(), {...rule, overwrite: overwrite || this.flags.resume === true})
    return {formats, files, rule}
  }

  /** Returns the number of warnings about damaged audio. */
  async #detectLanguage(transcriber: Transcriber, recording: string, isNamed: boolean): Promise<number> {
    const {languageName} = await import('../src/speech/index.js')
    let damage = 0
    const source = this.#source()
    const {model, languages} = await transcriber.detectLanguage(this.#input(recording), {
      ...source,
      onWarning: (warning) => {
        if (isDamage(warning)) damage++
        source.onWarning?.(warning)
      },
    })
    const [best] = languages
    if (best === undefined) this.output.notice(`${recording}: no speech found.`)
    const payload: DetectLanguageV1 = {
      path: recording === '-' ? '-' : resolve(recording),
      model,
      language: best?.language ?? null,
      probability: best?.probability ?? 0,
      languages: languages.slice(0, 5),
    }
    await this.output.result(payload, ({language, probability}) => {
      if (language === null) return ''
      const place = isNamed ? `${recording}: ` : ''
      return `${place}${languageName(language) ?? language} (${language}), ${(100 * probability).toFixed(1)} %`
    })
    return damage
  }

  /** Limits of time are those of a recording that has all threads. */
  get #canRunTogether(): boolean {
    const limits = Object.values(sessionLimitsOf(this.flags))
    return limits.every((limit) => limit === undefined) && this.flags['detect-language'] !== true
  }

  /** True if --resume has nothing to do for a recording. */
  #isComplete(job: Job): boolean {
    const {resume = false, overwrite = false} = this.flags
    job.kept ??= new Set(job.paths.filter((path) => resume && !overwrite && existsSync(path)))
    return job.paths.length > 0 && job.kept.size === job.paths.length
  }

  /**
   * Returns the number of warnings about damaged audio.
   * @param title precedes a text on standard output
   * @param begin begins the transcription, unless it has begun
   */
  async #transcribe(
    job: Job,
    {formats, rule}: Destination,
    title: (recording: string) => string,
    begin: () => Promise<TranscribedWithin>,
  ): Promise<number> {
    const {createFormat, createProgress, writeTranscript} = await import('../src/speech/index.js')
    const {recording, paths} = job
    if (this.#isComplete(job)) {
      const [verb, list] = [paths.length === 1 ? 'exists' : 'exist', paths.join(', ')]
      this.output.notice(`${list} already ${verb}, so ${recording} is skipped.`)
      return 0
    }
    const progressFile = await this.#progressFile(recording, paths[0])
    const shape = subtitleShapeOf(this.flags)
    const writer = createFormat(formats[0] ?? 'text', shape)
    const streams = paths.length === 0 && !this.output.json
    const print = this.#printer(() => title(recording) + writer.header())
    // Segments printed on the terminal already show the progress.
    const isVisible = !this.flags.quiet && !(streams && process.stdout.isTTY)
    const {file: result, diagnostics} = await withProgress(`Transcribing ${basename(recording)}`, isVisible, (show) => {
      const progress = createProgress(show)
      job.handlers = {
        onStart: progress.start,
        onProgress: progress.advance,
        ...(streams ? {onSegment: (segment) => print(writer.segment(segment))} : {}),
      }
      return job.turn.begin(begin)
    }).catch((error: unknown) => {
      throw progressFile !== undefined && existsSync(progressFile.path)
        ? stopped(error, 'transcription', {recording})
        : error
    })
    if (result.transcript.text.trim() === '') this.output.notice(`${recording}: no speech found.`)
    const damage = result.recording?.warnings.filter(isDamage).length ?? 0
    if (streams) {
      await print(writer.footer(result.transcript))
      await this.#printStats(result)
      return damage
    }
    for (const [i, path] of paths.entries())
      if (job.kept?.has(path) !== true)
        await writeOutput(path, writeTranscript(formats[i] as TranscriptFormatName, result.transcript, shape), rule)
    if (progressFile !== undefined) await rm(progressFile.path, {force: true})
    const payload = await this.#payload(recording, result, diagnostics, paths)
    await this.output.result(payload, () => `${paths.join('\n')}\n`)
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

  /** Returns a print function that precedes the first piece with the header. */
  #printer(startOf: () => string): (text: string) => Promise<void> {
    let hasStarted = false
    return async (text) => {
      const header = hasStarted ? '' : startOf()
      hasStarted = true
      await this.output.piece(header + text)
    }
  }

  #input(recording: string): AudioInput {
    const {'raw-encoding': encoding, 'raw-rate': rate, 'raw-channels': channels} = this.flags
    const raw = encoding === undefined ? undefined : {encoding, sampleRate: rate, channels}
    return recordingInput(recording, raw)
  }

  /** What both the detection of the language and the transcription need. */
  #source(
    notice = (text: string) => this.output.notice(text),
  ): Pick<TranscribeHandlers, 'excerpt' | 'track' | 'onTracks' | 'signal' | 'onWarning'> {
    const {offset, duration} = this.flags
    return {
      excerpt:
        offset === undefined && duration === undefined ? undefined : {offsetSec: offset ?? 0, durationSec: duration},
      ...trackOptions(this.flags['audio-track'], notice),
      signal: this.signal,
      onWarning: ({code, message}) => {
        if (code === 'recognition_unreliable') this.#isUnreliable = true
        notice(`warning: ${message}`)
      },
    }
  }

  async #read(transcriber: Transcriber, job: Job, signal: AbortSignal): Promise<TranscribedWithin> {
    const {recording, paths, turn} = job
    const partial = await this.partialWriter()
    const {sessionLimits, transcribeWithin} = await import('../src/speech/index.js')
    const source = this.#source((text) => void turn.print(() => this.output.notice(text)))
    return transcribeWithin(sessionLimits(sessionLimitsOf(this.flags), {}), transcriber, this.#input(recording), {
      ...source,
      signal,
      progress: await this.#progressFile(recording, paths[0]),
      onStart: (durationSec) =>
        void turn.print(() => {
          partial?.start(durationSec)
          job.handlers.onStart?.(durationSec)
        }),
      onProgress: (processedSec) => void turn.print(() => job.handlers.onProgress?.(processedSec)),
      onSegment: (segment) => turn.print(() => job.handlers.onSegment?.(segment)),
      onChunk: partial && ((chunk) => turn.print(() => partial.write(chunk))),
    })
  }

  async #payload(
    recording: string,
    result: TranscribedFile,
    diagnostics: NonNullable<TranscribeV1['deadline_diagnostics']>,
    paths: readonly string[],
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
    const [path, ...others] = paths
    if (path === undefined) return payload
    return {...payload, output_path: path, ...(others.length === 0 ? {} : {output_paths: [...paths]})}
  }

  async #reportFailure(recording: string, error: SvcError): Promise<void> {
    await this.output.event({path: recording === '-' ? '-' : resolve(recording), ...asCliError(error)})
    if (!this.output.json) process.stderr.write(asText(error))
  }
}
