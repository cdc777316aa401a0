import {randomUUID} from 'node:crypto'
import {join, resolve} from 'node:path'
import {cwd} from 'node:process'
import type {Command} from '@oclif/core'
import {
  defaultSpeechModel,
  hubSettings,
  readConfigFile,
  readSpeechConfig,
  resolveSettings,
  type SettingRows,
  type SettingSources,
  type SettingTable,
  type SettingValues,
  settingTables,
  speechAudioSettings,
  speechRefineSettings,
  speechRuntime,
  speechServerSettings,
  speechSessionSettings,
  speechSettings,
  speechStatus,
  type TableValues,
  workspaceSettings,
} from '../config/index.js'
import type {ShowV1, SpeechStatusV1} from '../contracts/index.js'
import {commandLine, SvcError} from '../errors/index.js'
import {checkOutputs, packageRoot} from '../files/index.js'
import type {
  LocatedModel,
  ModelSource,
  PartialWriter,
  SpeechService,
  Transcriber,
  TranscriberOptions,
} from '../speech/index.js'
import type {Sessions} from '../speech-server/index.js'
import type {ResolveModel} from '../voice/index.js'
import type {PulledModel} from '../weights/index.js'
import type {CheckFinding} from './checks.js'
import {loadCodeRank} from './code-rank.js'
import {cudaInstalled, cudaRequested} from './cuda.js'
import {HubCommand} from './hub-command.js'
import {isForeign, languageModelFacts, speechModelFacts} from './model-facts.js'
import {findModelPlace, type ModelPlace} from './model-place.js'
import {showQuantising, withProgress} from './progress.js'
import {settingFlags} from './setting-flags.js'
import {type ClosableSpeechPort, openSpeechPort} from './speech-port.js'

/** Flags of every command that recognises speech. */
export const speechFlags = {
  ...settingFlags(speechSettings),
  ...settingFlags(speechAudioSettings),
  ...settingFlags(speechRefineSettings),
  ...settingFlags(hubSettings),
}

/** The settings of one call. */
interface SpeechValues {
  speech: TableValues<typeof speechSettings>
  audio: TableValues<typeof speechAudioSettings>
  refine: TableValues<typeof speechRefineSettings>
  hub: TableValues<typeof hubSettings>
}

/** The small model that ships with svc. */
const starterFolder = join(packageRoot, 'examples', 'models', 'starter')

/** Name of the model that is offered for real speech, and the size of its download. */
const betterModel = {name: 'tiny.en', megabytes: 150}

const starterNotice =
  'Using the starter model, which recognises only synthetic voices and spoken digits. For real speech, run `svc speech pull tiny.en` once.'

/** Base of commands that recognise speech: creates transcribers from the flags and settings. */
export abstract class SpeechCommand<T extends typeof Command = typeof Command> extends HubCommand<T> {
  #port: ClosableSpeechPort | undefined
  /** Whether no model is configured or cached, and the starter model is used instead. */
  #usesStarter = false
  /** The configuration files as they were last read. */
  #files: Pick<SettingSources, 'file' | 'speechConfig'> = {}

  /**
   * Creates a transcriber from the flags and settings. The caller closes it.
   * @param words computes word timestamps: if the model supports them, or always
   * @param together recognises short recordings of several calls at the same time
   */
  protected async createTranscriber({
    refine,
    words,
    together,
  }: {
    refine: boolean
    words?: 'preferred' | 'required' | undefined
    together?: boolean
  }): Promise<Transcriber> {
    const {ModelHolder, Transcriber} = await import('../speech/index.js')
    const values = this.#values()
    if (words === 'required') values.speech.wordTimestamps = true
    if (this.flags.speakers !== undefined && values.audio.channels !== 'split')
      throw new SvcError('usage', {reason: '--speakers names the channels of --channels split, which is missing.'})
    const model = new ModelHolder(await this.#modelSource(values))
    return new Transcriber({
      ...(await this.#transcriberOptions(values)),
      model,
      prefersWords: words === 'preferred',
      together,
      refine,
    })
  }

  /** @throws output_is_input, output_exists if the file that receives partial results is an input, or a directory */
  protected async checkPartialFile(inputs: readonly string[]): Promise<void> {
    const {emitPartialPath: path} = this.settings(speechSettings)
    if (path !== undefined) await checkOutputs([resolve(path)], {overwrite: true, inputs})
  }

  /** Writer of the file that receives partial results, if one is configured. */
  protected async partialWriter(sessionId: string = randomUUID()): Promise<PartialWriter | undefined> {
    const {emitPartialPath} = this.settings(speechSettings)
    if (emitPartialPath === undefined) return undefined
    const {partialWriter} = await import('../speech/index.js')
    const {chunkSec} = this.settings(speechAudioSettings)
    return partialWriter(resolve(emitPartialPath), {sessionId, chunkSec})
  }

  /** The speech-to-text port of operations and of programs, closed when the command ends. */
  protected get speechPort(): ClosableSpeechPort {
    this.#port ??= openSpeechPort({
      open: async () => {
        const [{Voice}, service] = await Promise.all([import('../voice/index.js'), this.openSpeechService()])
        return new Voice(service, this.resolveModel)
      },
      status: () => this.speechStatus(),
    })
    return this.#port
  }

  /** Finds the configured language model, which polishes transcripts and answers chats. */
  protected readonly resolveModel: ResolveModel = async (signal) => {
    const {askEndpoint} = await import('../inference-client/index.js')
    return askEndpoint(this.settingSources(), signal)
  }

  /**
   * Opens speech recognition for many calls, each with the settings at that time. The caller closes it.
   * @param model overrides the setting
   */
  protected async openSpeechService(model?: string): Promise<SpeechService> {
    const {chosenSettings, SpeechService} = await import('../speech/index.js')
    return new SpeechService({
      root: this.settings(speechServerSettings).workspace ?? this.workspace.root,
      settings: async (choice) => {
        const values = chosenSettings(this.#values(await this.#readFiles(), model), choice)
        const {speech, refine, server, session, audio, hub} = values
        const {threads, device, precision, backend, verbose, revision, emitPartialPath} = speech
        return {
          modelKey: JSON.stringify({threads, device, precision, backend, verbose, model: speech.model, revision}),
          source: await this.#modelSource(values),
          transcriber: {...(await this.#transcriberOptions(values)), refine: true},
          session,
          live: server,
          keepAliveMs: speech.keepAliveMs,
          partial:
            emitPartialPath === undefined ? undefined : {path: resolve(emitPartialPath), chunkSec: audio.chunkSec},
          runtime: speechRuntime({...speech, ...refine, ...session, ...hub}),
        }
      },
    })
  }

  /** Opens the live sessions of a server. @param resumes keeps them across connections, in the workspace */
  protected async openSessions(service: SpeechService, resumes: boolean): Promise<Sessions> {
    const {Sessions} = await import('../speech-server/index.js')
    const {sessionTtlSecs} = this.settings(speechServerSettings)
    const folder = join(this.workspace.root, '.svc', 'speech-sessions')
    return Sessions.start(service, resumes ? {folder, ttlMs: 1000 * sessionTtlSecs} : undefined, () =>
      this.output.notice('warning: Sessions cannot be resumed: another server of this workspace keeps its sessions.'),
    )
  }

  /**
   * The values of all tables of speech, from these files instead of those that were read at the start.
   * @param model overrides the setting
   */
  #values(files: Pick<SettingSources, 'file' | 'speechConfig'> = {}, model?: string) {
    const read = <R extends SettingRows>(table: SettingTable<R>): SettingValues<R> => {
      const {values, warnings} = resolveSettings(table, {...this.settingSources(table), ...files})
      this.report(warnings)
      return values
    }
    const speech = read(speechSettings)
    return {
      speech: {...speech, model: model ?? speech.model},
      audio: read(speechAudioSettings),
      refine: read(speechRefineSettings),
      session: read(speechSessionSettings),
      server: read(speechServerSettings),
      hub: read(hubSettings),
    }
  }

  /** Reads the configuration files again. If one is no longer valid, a warning is printed and its last state is used. */
  async #readFiles(): Promise<Pick<SettingSources, 'file' | 'speechConfig'>> {
    const {file = this.configFile, speechConfig = this.speechConfig} = this.#files
    const path = file?.path
    this.#files = {file, speechConfig}
    try {
      if (path !== undefined) this.#files.file = await readConfigFile(path)
    } catch (error) {
      const message = `Changes in ${path} are ignored: ${SvcError.from(error).message}`
      this.report([{code: 'speech_config_ignored', subject: String(path), message}])
    }
    if (speechConfig !== undefined) this.#files.speechConfig = await readSpeechConfig(speechConfig.path, settingTables)
    this.report(this.#files.speechConfig?.warnings ?? [])
    return this.#files
  }

  /** Everything of a transcriber apart from its model. */
  async #transcriberOptions({
    speech,
    audio,
    refine,
  }: SpeechValues): Promise<Omit<TranscriberOptions, 'model' | 'refine'>> {
    const {loadLexicons, transcriberOptions} = await import('../speech/index.js')
    const {repositoryRoot} = this.settings(workspaceSettings)
    const root = repositoryRoot ?? this.workspace.root
    const {lexicon, sources} = await loadLexicons(refine.lexiconPath, root)
    for (const {path, fault} of sources)
      if (fault !== undefined) this.output.notice(`warning: Ignoring the lexicon ${path}: ${fault}.`)
    const isCode = refine.domainMode === 'code'
    const symbols = isCode && refine.contextualBias ? await this.#namesBelow(root) : []
    const options = transcriberOptions({speech, audio, refine}, lexicon, symbols)
    return isCode ? {...options, text: {...options.text, rank: await loadCodeRank()}} : options
  }

  /** The names that data-language programs below a folder declare. */
  async #namesBelow(root: string): Promise<string[]> {
    const [{workspaceNames}, {logger}] = await Promise.all([import('../lang/index.js'), import('../log/index.js')])
    return workspaceNames(root, (path, err) => logger('speech').debug({path, err}, 'Cannot read names of programs.'))
  }

  /** The speech model and settings. Does not load the model or the runtime. */
  protected async speechStatus(): Promise<SpeechStatusV1> {
    const found = await this.findModel()
    const {speechModelFamily} = await import('../speech/index.js')
    return speechStatus(this.#statusValues(), {
      version: this.config.version,
      cudaInstalled: cudaInstalled(),
      cudaRequested: cudaRequested(process.env.SVC_SPEECH_CUDA),
      activeModel: found === undefined ? null : {name: found.name, dir: found.path},
      family: found === undefined ? undefined : await speechModelFamily(found.path),
    })
  }

  /** The settings of sessions, for diagnostic output. */
  protected speechRuntime() {
    return speechRuntime(this.#statusValues())
  }

  #statusValues() {
    const {speech, refine, session, hub} = this.#values()
    return {...speech, ...refine, ...session, ...hub}
  }

  async #modelSource({speech, hub}: SpeechValues): Promise<ModelSource> {
    const {derivedFolder} = await import('../weights/index.js')
    const {threads, device, precision, backend, verbose} = speech
    const log = this.logOptions()
    if (verbose) log.filter = `${log.filter},speech_decoder=debug`
    return {
      locate: (signal) => this.#locate(speech, hub, signal),
      engine: {
        threads,
        device,
        precision,
        backend,
        derivedFolder: derivedFolder(process.env),
        log,
        onProgress: showQuantising,
      },
    }
  }

  async #locate(
    {model, revision}: SpeechValues['speech'],
    {hubEndpoint}: SpeechValues['hub'],
    signal: AbortSignal,
  ): Promise<LocatedModel> {
    const {locateSpeechModel} = await import('../speech/index.js')
    const {quiet} = this.flags as {quiet: boolean}
    const found = await withProgress('Locating the speech model', !quiet, async (show) =>
      locateSpeechModel(model, {
        ...(await this.hubOptions(show)),
        revision,
        cwd: cwd(),
        starterFolder,
        onDownload: (id) => this.output.notice(`Downloading ${id} from ${hubEndpoint}.`),
        signal,
      }),
    )
    this.#usesStarter = found.isFallback
    if (found.isFallback) this.output.notice(starterNotice)
    return found
  }

  /** Downloads a speech model to the Hugging Face cache. @param name an id, or a short name such as `tiny.en` */
  protected async pullSpeechModel(name: string): Promise<PulledModel> {
    const {speechModelFiles} = await import('../weights/index.js')
    const {speechModelId} = await import('../speech/index.js')
    return this.download(speechModelId(name), this.settings(speechSettings).revision, speechModelFiles)
  }

  /**
   * Offers to download a model for real speech after the starter model did not understand a recording. Asks only on a
   * terminal, and downloads nothing unless the answer is yes.
   */
  protected async offerBetterModel(): Promise<void> {
    const {quiet} = this.flags as {quiet: boolean}
    const {offline, hubEndpoint} = this.settings(hubSettings)
    if (!this.#usesStarter || offline || quiet || this.output.json || !process.stderr.isTTY) return
    const [{askTerminal}, {typedDecision}] = await Promise.all([
      import('./spoken-route.js'),
      import('../contracts/index.js'),
    ])
    const {name, megabytes} = betterModel
    const question = `Download ${name}, which recognises real speech, from ${hubEndpoint} (${megabytes} MB)? [y/N] `
    const answer = await askTerminal(question, this.signal)
    if (typedDecision(answer) !== true) {
      if (answer) this.output.notice('Nothing was downloaded.')
      return
    }
    const {id} = await this.pullSpeechModel(name)
    this.output.notice(`${id} is now the default model. Run the command again to transcribe with it.`)
  }

  /** Finds the configured speech model on this machine; if none is configured, the default or the starter model. */
  protected async findModel(model = this.settings(speechSettings).model): Promise<LocatedModel | undefined> {
    const {findSpeechModel} = await import('../speech/index.js')
    const {revision} = this.settings(speechSettings)
    return findSpeechModel(model, {cwd: cwd(), revision, cacheFolder: await this.cacheFolder(), starterFolder})
  }

  /** Finds a language or speech model on this machine. @throws model_not_found */
  protected async findAnyModel(model: string): Promise<ModelPlace> {
    return findModelPlace(model, await this.cacheFolder(), () => this.findModel(model))
  }

  /** What is known of a model on this machine before it is loaded. @throws model_not_found */
  protected async modelFacts(model: string, ignoreConfigKeys: readonly string[] | undefined): Promise<ShowV1> {
    const place = await this.findAnyModel(model)
    if (place.kind === 'speech' && !(await isForeign(place.folder))) return speechModelFacts(place)
    return languageModelFacts(place.name, place.model, {
      cacheFolder: this.settings(hubSettings).hubCache,
      ignoreConfigKeys,
    })
  }

  /** Checks that the speech model is on this machine. The fix downloads it, or a better one than the starter model. */
  protected async checkModel(): Promise<CheckFinding> {
    const found = await this.findModel()
    const model = this.settings(speechSettings).model ?? defaultSpeechModel
    if (found === undefined)
      return {state: 'failed', value: `${model} is not on this machine.`, fix: commandLine`svc speech pull ${model}`}
    const value = `${found.name} in ${found.path}`
    if (!found.isFallback) return {state: 'ok', value}
    const limits = 'which recognises only synthetic voices and spoken digits.'
    return {state: 'ok', value: `${value}, ${limits}`, fix: commandLine`svc speech pull tiny.en`}
  }

  protected override async finally(error: Error | undefined): Promise<void> {
    await this.#port?.close()
    await super.finally(error)
  }
}
