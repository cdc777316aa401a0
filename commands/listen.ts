import {resolve} from 'node:path'
import {Args, Flags} from '@oclif/core'
import {
  askTerminal,
  type Conversation,
  errorOf,
  formatRoute,
  inGroup,
  LiveLine,
  liveLimitFlags,
  noticeOf,
  noticeOfSession,
  OrchCommand,
  openConversation,
  openLiveAudio,
  overwriteFlag,
  routeFlags,
  sessionLimitsOf,
  speechFlags,
  UtteranceFile,
  unpolished,
} from '../src/cli/index.js'
import {
  ideSettings,
  socratesPolicySettings,
  speechAudioSettings,
  speechServerSettings,
  speechSessionSettings,
  speechSettings,
} from '../src/config/index.js'
import {asAudioError, Exit, SvcError} from '../src/errors/index.js'
import {checkOutputs} from '../src/files/index.js'
import type {OperationBase, OperationContext} from '../src/operations/index.js'
import {pause} from '../src/process/index.js'
import type {
  FinishedUtterance,
  LiveEvent,
  LiveSession,
  RemoteSession,
  SessionLimits,
  Transcriber,
} from '../src/speech/index.js'
import type {PairsFile, Polished, RouteResult, TranscriptUse} from '../src/voice/index.js'

/** Silence after which an utterance ends, ms. */
const endpointMs = 400

export default class Listen extends OrchCommand<typeof Listen> {
  static override summary = 'Transcribe live speech from a microphone, pipe or file.'
  static override description =
    `Records from the default microphone until Ctrl-C, or reads a file or standard input to the end. An utterance ends after
a pause of 0.4 s. On a terminal, words appear as they are spoken; words that may still change are dimmed. If the output
is piped, each utterance is printed as one line when it is complete.

To record, uses the first available of pw-record, arecord, parecord, rec (SoX) and ffmpeg. Standard input is a recording
in any supported format, or raw PCM (16-bit little-endian, mono, 16 kHz).

--route uses the text: tool calls an operation of the workspace by its name, such as "list tasks"; chat asks the configured
model; orchestrator submits a task. Live speech is used utterance by utterance, a file as one text. If one of them fails,
its error is printed, and the exit status is 1.

--json prints one event per line (ready, partial, final, routed, error and heartbeat), and the complete session as the last
line.

--output writes each utterance to the file as soon as it is complete; the extension selects the format. Ctrl-C ends the
current utterance and prints it.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --output notes.txt --profile aggressive',
    '<%= config.bin %> <%= command.id %> | while read -r line; do echo "heard: $line"; done',
    '<%= config.bin %> <%= command.id %> --route chat',
    'ffmpeg -v error -i talk.mp4 -f wav - | <%= config.bin %> <%= command.id %> - --json',
  ]
  static override args = {
    source: Args.string({
      description: 'Audio source: a file, - for standard input, or mic for the microphone.',
      default: 'mic',
    }),
  }
  static override flags = {
    once: Flags.boolean({description: 'Exit after the first utterance.'}),
    server: Flags.string({
      description: 'Speech server that recognises the audio, instead of a model on this machine.',
      helpValue: 'URL',
    }),
    ...inGroup('output', {
      output: Flags.string({
        char: 'o',
        description: 'File to write utterances to: .txt, .srt, .vtt or .jsonl.',
        helpValue: 'FILE',
      }),
      overwrite: overwriteFlag,
      'debug-parser-payload': Flags.boolean({description: 'Include the settings in the JSON result.'}),
    }),
    ...routeFlags,
    ...speechFlags,
    ...inGroup('audio', {
      microphone: Flags.string({description: 'Microphone to record from.', helpValue: 'NAME'}),
      'list-microphones': Flags.boolean({description: 'List the microphones and exit.'}),
      realtime: Flags.boolean({description: 'Read a file in real time, like live speech.'}),
    }),
    ...liveLimitFlags,
  }

  #operations: Promise<OperationBase> | undefined
  /** End with the last printed event, and with the last use of an utterance. */
  #printed: Promise<void> = Promise.resolve()
  #used: Promise<void> = Promise.resolve()
  /** Whether a route failed, or an utterance could not be used. */
  #hasFailedUse = false

  async run(): Promise<void> {
    if (this.flags['list-microphones']) return this.#listMicrophones()
    const {isTextFile, SessionResult, sessionLimits} = await import('../src/speech/index.js')
    const {listenPayload} = await import('../src/voice/index.js')
    const limits = sessionLimits(sessionLimitsOf(this.flags), this.settings(speechSessionSettings))
    await this.checkPartialFile(this.#inputs)
    const result = new SessionResult()
    const conversation = await this.#openConversation()
    // A file is one message; live speech is routed utterance by utterance.
    const isDialogue = this.#isLive
    let routed: RouteResult | undefined
    let polished: Polished | undefined
    const line = new LiveLine(!this.output.json && process.stdout.isTTY)
    const isText = isTextFile(this.args.source)
    const isRemote = this.flags.server !== undefined && !isText
    const document = await this.#openOutput()
    let transcriber: Transcriber | undefined
    let failed = false
    try {
      if (!isRemote) transcriber = await this.createTranscriber({refine: true})
      const session =
        transcriber === undefined
          ? await this.#startRemote()
          : await this.#start(transcriber, {limits, isLive: !isText})
      const use = async (heard: FinishedUtterance) => {
        polished = await conversation.polish(unpolished(heard))
        const {text, confidence, report: llm_refinement} = polished
        const event = llm_refinement.applied ? {...heard.event, refined_text: text, text, confidence} : heard.event
        result.add({...heard, event})
        line.clear()
        if (event.text !== '') await this.output.piece(`${event.text}\n`)
        // The segments do not have the corrected text.
        await document?.write(llm_refinement.applied ? {type: 'final', event} : heard)
        if (!isDialogue || event.text === '') return
        routed = await conversation.route(session.id, polished)
        await this.#showRoute(routed)
        if (this.flags.route === 'none' && !llm_refinement.applied) return
        const {correlation_id, utterance} = event
        await this.output.event({type: 'routed', correlation_id, utterance, text, route: routed.route, llm_refinement})
      }
      const reading = this.#read(session, line, use)
      try {
        // What was said before the audio failed is not lost.
        if ('addText' in session && isText) await session.addText(resolve(this.args.source))
        else await this.#feed(session, line).finally(() => session.commit())
      } finally {
        await session.close()
        await reading
        line.clear()
      }
      const {transcript} = result
      polished ??= await conversation.polish(transcript)
      const whole = {...polished, text: transcript.refinedText, confidence: transcript.confidence}
      if (routed === undefined) {
        routed = await conversation.route(session.id, whole)
        await this.#showRoute(routed)
      }
      const object = listenPayload(
        result,
        session,
        {
          path: this.#path(),
          limits,
          languageHint: this.settings(speechSettings).language,
          minConfidence: this.settings(speechSessionSettings).toolRouteMinConfidence,
        },
        {...routed, polished: whole},
      )
      await this.output.event(
        this.flags['debug-parser-payload'] ? {...object, runtime_config: this.speechRuntime()} : object,
      )
      if (session.ended.aborted) throw session.ended.reason
      await document?.finish()
      failed = session.failures > 0 || this.#hasFailedUse
    } finally {
      await document?.close()
      await transcriber?.close()
    }
    if (failed) this.exit(Exit.failed)
  }

  /** True if the audio is a microphone or a pipe. */
  get #isLive(): boolean {
    return this.args.source === 'mic' || this.args.source === '-'
  }

  get #inputs(): string[] {
    return this.#isLive ? [] : [this.args.source]
  }

  /** Prepares the use of texts. The workspace is opened when an operation is called. */
  async #openConversation(): Promise<Conversation> {
    const {noEditor, readEditorContext, transcriptUse} = await import('../src/voice/index.js')
    const {route: mode, 'confirm-route': confirms, polish, 'emit-asr-refine': pairs} = this.flags
    const defaults = transcriptUse(this.settings(speechSessionSettings))
    const use: TranscriptUse = {
      mode,
      editor: mode === 'tool' ? await readEditorContext(this.workspace.root, this.settings(ideSettings)) : noEditor,
      limits: defaults.limits,
      polish: {...defaults.polish, enabled: polish ?? defaults.polish.enabled},
      pairs: pairs === undefined ? undefined : await this.#pairsFile(resolve(pairs)),
    }
    return openConversation({
      use,
      confirms,
      ask: (question) => askTerminal(question, this.signal),
      operations: () => this.#operationContext(),
      resolveModel: this.resolveModel,
    })
  }

  async #pairsFile(path: string): Promise<PairsFile> {
    const {confidencePolicy} = await import('../src/workspace/index.js')
    const {withoutUndefined} = await import('../src/contracts/index.js')
    await checkOutputs([path], {overwrite: true, inputs: this.#inputs})
    const {minTrainingPairConfidence: minConfidence} = confidencePolicy(
      withoutUndefined(this.settings(socratesPolicySettings)),
    )
    return {path, minConfidence, notice: (text) => this.output.notice(text)}
  }

  async #operationContext(): Promise<OperationContext> {
    this.#operations ??= this.openOperations('cli', this.speechPort)
    return {
      ...(await this.#operations),
      signal: this.signal,
      report: () => {},
      notice: (text) => this.output.notice(text),
      ask: undefined,
    }
  }

  async #showRoute(routed: RouteResult): Promise<void> {
    await this.output.piece(formatRoute(routed.route))
    const error = errorOf(routed)
    const notice = noticeOf(routed)
    // Errors are printed even with --quiet.
    if (error !== undefined) process.stderr.write(`error: ${error.message} (${error.code})\n`)
    else if (notice !== undefined) this.output.notice(notice)
    this.#hasFailedUse ||= error !== undefined
  }

  #path(): string {
    const {source} = this.args
    return source === '-' || source === 'mic' ? source : resolve(source)
  }

  async #listMicrophones(): Promise<void> {
    const {listMicrophones} = await import('../src/audio/index.js')
    const {program, text} = await listMicrophones(this.signal)
    await this.output.result({program, microphones: text.split('\n')}, () => text)
  }

  async #start(
    transcriber: Transcriber,
    {limits, isLive}: {limits: SessionLimits; isLive: boolean},
  ): Promise<LiveSession> {
    const {LiveSession, newSessionId} = await import('../src/speech/index.js')
    const settings = this.settings(speechServerSettings)
    const id = newSessionId()
    return LiveSession.start({
      ...settings,
      id,
      transcriber,
      limits,
      isLive,
      partial: await this.partialWriter(id),
      silenceMs: endpointMs,
      once: this.flags.once,
      heartbeatMs: this.settings(speechSessionSettings).heartbeatMs,
      streamMaxBufferMs: Math.max(settings.streamMaxBufferMs, 2 * (limits.maxDurationMs ?? 0)),
      // An interruption ends the audio; what was said before it is still transcribed.
      signal: new AbortController().signal,
    })
  }

  /** Prints the events of a session. Utterances are used one after another, while partial results appear. */
  async #read(
    session: LiveSession | RemoteSession,
    line: LiveLine,
    use: (heard: FinishedUtterance) => Promise<void>,
  ): Promise<void> {
    for await (const event of session)
      if (event.type === 'final')
        this.#used = this.#used.then(async () => {
          try {
            this.#print(event.event, line)
            await use(event)
          } catch (error) {
            this.#hasFailedUse = true
            const {correlation_id, utterance, end_ms} = event.event
            this.#print({type: 'error', correlation_id, ...asAudioError(SvcError.from(error)), utterance, end_ms}, line)
          }
        })
      else if (event.type === 'error') this.#used = this.#used.then(() => this.#print(event.event, line))
      else if ('event' in event) this.#print(event.event, line)
      else {
        const notice = noticeOfSession(event)
        if (notice !== undefined) this.output.notice(notice)
      }
    await this.#used
  }

  /** Prints an event after those before it. */
  #print(event: LiveEvent, line: LiveLine): void {
    this.#printed = this.#printed.then(() => this.output.event(event))
    this.#printed.catch(() => undefined)
    if (event.type === 'partial') line.show(event.stable_text, event.text)
    else if (event.type === 'error' && !this.output.json) {
      // The error of an utterance is only reported here, also with --quiet.
      if (event.utterance === undefined) this.output.notice(`error: ${event.message}`)
      else process.stderr.write(`error: ${event.message} (${event.error})\n  hint: ${event.hint}\n`)
    }
  }

  async #startRemote(): Promise<RemoteSession> {
    const {RemoteSession} = await import('../src/speech/index.js')
    const {server: url = '', once} = this.flags
    const {protocol} = URL.canParse(url) ? new URL(url) : {protocol: ''}
    if (!['http:', 'https:', 'ws:', 'wss:'].includes(protocol))
      throw new SvcError('usage', {reason: `${url} is not the URL of a speech server, such as http://127.0.0.1:3847.`})
    return RemoteSession.start({
      url,
      token: this.settings(speechServerSettings).token,
      language: this.settings(speechSettings).language,
      once,
    })
  }

  /** Passes audio on until it ends, the session fails, or the command is interrupted. */
  async #feed(session: LiveSession | RemoteSession, line: LiveLine): Promise<void> {
    const stop = AbortSignal.any([this.signal, session.ended])
    const isMicrophone = this.args.source === 'mic'
    const isFile = !isMicrophone && this.args.source !== '-'
    const started = performance.now()
    let samples = 0
    try {
      for await (const piece of await this.#audio(stop)) {
        session.push(piece)
        line.level(piece)
        samples += piece.length
        if (isFile && this.flags.realtime) await pause(started + samples / 16 - performance.now(), stop)
        else if (isFile || (!isMicrophone && this.flags.server !== undefined)) {
          await session.settle()
          await this.#used
        }
        if (stop.aborted || session.isDone) return
      }
    } catch (error) {
      if (!stop.aborted) throw error
    }
  }

  async #audio(signal: AbortSignal): Promise<AsyncIterable<Float32Array>> {
    const {source} = this.args
    const {channels} = this.settings(speechAudioSettings)
    if ((this.flags as {channels?: unknown}).channels === 'split')
      throw new SvcError('usage', {
        reason:
          'Live audio is read as one channel. To split the channels of a recording, run `svc transcribe RECORDING --channels split`.',
      })
    if (source === 'mic' && process.stderr.isTTY) this.output.notice('Listening. Press Ctrl-C to stop.')
    return openLiveAudio(source, {
      channel: typeof channels === 'number' ? channels : undefined,
      microphone: this.flags.microphone,
      signal,
      notice: (text) => this.output.notice(text),
    })
  }

  async #openOutput(): Promise<UtteranceFile | undefined> {
    const {output, overwrite = false} = this.flags
    if (output === undefined) return undefined
    const {createFormat, formatOfFile} = await import('../src/speech/index.js')
    const format = formatOfFile(output.replace(/\.jsonl$/i, '.ndjson'))
    if (format === undefined || !['text', 'srt', 'vtt', 'ndjson'].includes(format))
      throw new SvcError('usage', {reason: `The extension of ${output} must be .txt, .srt, .vtt or .jsonl.`})
    await checkOutputs([output], {overwrite, inputs: this.#inputs})
    return UtteranceFile.open(resolve(output), overwrite, createFormat(format))
  }
}
