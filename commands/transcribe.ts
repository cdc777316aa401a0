import {randomUUID} from 'node:crypto'
import {existsSync} from 'node:fs'
import {rm} from 'node:fs/promises'
import {availableParallelism} from 'node:os'
import {basename, resolve} from 'node:path'
import {Args, Flags} from '@oclif/core'
import {
  audioTrackFlag,
  inGroup,
  overwriteFlag,
  positionFlag,
  rawAudioFlags,
  rawAudioOf,
  recordingInput,
  recordingLimitFlags,
  refuseForeign,
  SpeechCommand,
  sessionLimitsOf,
  skippedNotices,
  speechFlags,
  stopped,
  subtitleFlags,
  subtitleShapeOf,
  subtitleWords,
  type TranscriptDestination,
  type Transcription,
  TranscriptionJob,
  trackOptions,
  transcriptDestination,
  transcriptFormatFlag,
  transcriptionFigures,
  transcriptTitles,
  withProgress,
} from '../src/cli/index.js'
import {speechSessionSettings} from '../src/config/index.js'
import type {DetectLanguageV1, TranscribeV1} from '../src/contracts/index.js'
import {asCliError, asText, Exit, SvcError} from '../src/errors/index.js'
import {writeOutput} from '../src/files/index.js'
import type {
  AudioInput,
  TranscribedFile,
  TranscribeHandlers,
  Transcriber,
  TranscriptFormatName,
} from '../src/speech/index.js'

/** Number of recordings from which short ones are transcribed together: a second model takes time to start. */
const minTogether = 4

/** Number of recordings that are transcribed at the same time or wait for their output: one more than models work. */
const maxStarted = Math.min(availableParallelism(), 4) + 1

/** True for a warning about damaged audio. */
const isDamage = ({code}: {code: string}): boolean => code.startsWith('audio_')

/** Formats in which several transcripts can share one output. */
const joinable = new Set(['text', 'json', 'verbose_json', 'ndjson'])

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
      format: transcriptFormatFlag,
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
      ...rawAudioFlags,
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
      onSkipped: (skipped) => {
        for (const notice of skippedNotices(skipped)) this.output.notice(notice)
      },
    })
    const recordings = listed.map(({path}) => path)
    await this.checkPartialFile(recordings)
    const destination = await transcriptDestination(listed, this.flags)
    const several = recordings.length > 1
    const {formats, files} = destination
    const isJoinable =
      formats.length === 1 && (!several || this.output.json || formats.every((name) => joinable.has(name)))
    if (files.size === 0 && !isJoinable) throw new SvcError('output_dir_needed', {formats})
    const title = several && files.size === 0 && formats[0] === 'text' ? transcriptTitles() : () => ''
    // The keys of `files` are unique: a recording given twice is written once.
    const unique = files.size > 0 ? [...files.keys()] : recordings
    const together = unique.length >= minTogether && this.#canRunTogether
    const words = subtitleWords(this.flags, formats)
    const transcriber = await this.createTranscriber({refine: this.flags.refine, words, together})
    const stop = new AbortController()
    const signal = AbortSignal.any([this.signal, stop.signal])
    const jobs = unique.map((recording) => new TranscriptionJob(recording, files.get(recording) ?? []))
    const begin = (job: TranscriptionJob) => job.begin(() => this.#read(transcriber, job, signal))
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
  #isComplete(job: TranscriptionJob): boolean {
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
    job: TranscriptionJob,
    {formats, rule}: TranscriptDestination,
    title: (recording: string) => string,
    begin: () => Promise<Transcription>,
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
  async #printStats(file: TranscribedFile): Promise<void> {
    if (!this.flags.stats || this.output.json) return
    const figures = await transcriptionFigures(file)
    if (figures !== '') this.output.notice(figures)
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
    return recordingInput(recording, rawAudioOf(this.flags))
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

  async #read(transcriber: Transcriber, job: TranscriptionJob, signal: AbortSignal): Promise<Transcription> {
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
