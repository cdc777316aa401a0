import {existsSync} from 'node:fs'
import {createRequire} from 'node:module'
import {dirname, join} from 'node:path'
import {cwd} from 'node:process'
import type {Command} from '@oclif/core'
import {
  defaultSpeechModel,
  hubSettings,
  speechAudioSettings,
  speechRefineSettings,
  speechRuntime,
  speechServerSettings,
  speechSessionSettings,
  speechSettings,
  speechStatus,
  workspaceSettings,
} from '../config/index.js'
import type {SpeechStatusV1} from '../contracts/index.js'
import {packageRoot} from '../files/index.js'
import type {LocatedModel, Transcriber, TranscriberOptions} from '../speech/index.js'
import type {PullOptions} from '../weights/index.js'
import type {Finding} from './checks.js'
import {SvcCommand} from './command.js'
import {byteProgress, type ShowProgress, withProgress} from './progress.js'
import {settingFlags} from './setting-flags.js'
import {type ClosableSpeechPort, openSpeechPort, type RefineProfile} from './speech-port.js'

/** Flags of every command that recognises speech. */
export const speechFlags = {
  ...settingFlags(speechSettings),
  ...settingFlags(speechAudioSettings),
  ...settingFlags(speechRefineSettings),
  ...settingFlags(hubSettings),
}

/** The small model that ships with svc. */
const starterFolder = join(packageRoot, 'examples', 'models', 'starter')

const starterNotice =
  'Using the starter model, which recognises only synthetic voices and spoken digits. For real speech, run svc speech pull tiny.en once.'

/** Base of commands that recognise speech: creates transcribers from the flags and settings. */
export abstract class SpeechCommand<T extends typeof Command = typeof Command> extends SvcCommand<T> {
  /** Creates a transcriber from the flags and settings. The caller closes it. */
  protected async createTranscriber({
    refine,
    prefersWords,
    profile,
  }: {
    refine: boolean
    prefersWords?: boolean
    profile?: RefineProfile | undefined
  }): Promise<Transcriber> {
    const {loadLexicons, Transcriber, transcriberOptions} = await import('../speech/index.js')
    const settings = {
      speech: this.settings(speechSettings),
      audio: this.settings(speechAudioSettings),
      refine: {...this.settings(speechRefineSettings), ...(profile === undefined ? {} : {profile})},
    }
    const {repositoryRoot} = this.settings(workspaceSettings)
    const {lexicon, sources} = await loadLexicons(settings.refine.lexiconPath, repositoryRoot ?? this.workspace.root)
    for (const {path, fault} of sources)
      if (fault !== undefined) this.output.notice(`warning: Ignoring the lexicon ${path}: ${fault}.`)
    return new Transcriber({
      ...transcriberOptions(settings, lexicon),
      locate: (signal) => this.#locate(signal),
      engine: await this.#engineOptions(),
      prefersWords,
      refine,
    })
  }

  /** Creates the speech-to-text port of operations. The caller closes it. */
  protected openSpeechPort(): ClosableSpeechPort {
    return openSpeechPort({
      root: this.settings(speechServerSettings).workspace ?? this.workspace.root,
      profile: this.settings(speechRefineSettings).profile,
      minConfidence: this.settings(speechSessionSettings).toolRouteMinConfidence,
      createTranscriber: (profile) => this.createTranscriber({refine: true, profile}),
      status: () => this.speechStatus(),
      runtime: () => this.speechRuntime(),
    })
  }

  /** The speech model and settings. Does not load the model or the runtime. */
  protected async speechStatus(): Promise<SpeechStatusV1> {
    const found = await this.findModel()
    return speechStatus(this.#statusValues(), {
      version: this.config.version,
      cudaInstalled: cudaInstalled(),
      cudaRequested: cudaRequested(process.env.SVC_SPEECH_CUDA),
      activeModel: found === undefined ? null : {name: found.name, dir: found.path},
    })
  }

  /** The settings of sessions, for diagnostic output. */
  protected speechRuntime() {
    return speechRuntime(this.#statusValues())
  }

  #statusValues() {
    return {
      ...this.settings(speechSettings),
      ...this.settings(speechRefineSettings),
      ...this.settings(speechSessionSettings),
      ...this.settings(hubSettings),
    }
  }

  async #engineOptions(): Promise<TranscriberOptions['engine']> {
    const {derivedFolder} = await import('../weights/index.js')
    const {threads, device, precision, backend, verbose} = this.settings(speechSettings)
    const log = this.logOptions()
    if (verbose) log.filter = `${log.filter},speech_decoder=debug`
    return {threads, device, precision, backend, derivedFolder: derivedFolder(process.env), log}
  }

  async #locate(signal: AbortSignal | undefined): Promise<LocatedModel> {
    const {locateSpeechModel} = await import('../speech/index.js')
    const {model, revision} = this.settings(speechSettings)
    const {quiet} = this.flags as {quiet: boolean}
    const found = await withProgress('Locating the speech model', !quiet, async (show) =>
      locateSpeechModel(model, {
        ...(await this.hubOptions(show)),
        revision,
        cwd: cwd(),
        starterFolder,
        onDownload: (id) => this.output.notice(`Downloading ${id} from ${this.settings(hubSettings).hubEndpoint}.`),
        signal,
      }),
    )
    if (found.isFallback) this.output.notice(starterNotice)
    return found
  }

  /** Finds the configured speech model on this machine; if none is configured, the default or the starter model. */
  protected async findModel(): Promise<LocatedModel | undefined> {
    const {findSpeechModel} = await import('../speech/index.js')
    const {model, revision} = this.settings(speechSettings)
    return findSpeechModel(model, {cwd: cwd(), revision, cacheFolder: await this.cacheFolder(), starterFolder})
  }

  /** Checks that the speech model is on this machine. The fix downloads it, or a better one than the starter model. */
  protected async checkModel(): Promise<Finding> {
    const found = await this.findModel()
    const model = this.settings(speechSettings).model ?? defaultSpeechModel
    if (found === undefined)
      return {state: 'failed', value: `${model} is not on this machine.`, fix: `svc speech pull ${model}`}
    const value = `${found.name} in ${found.path}`
    if (!found.isFallback) return {state: 'ok', value}
    const limits = 'which recognises only synthetic voices and spoken digits.'
    return {state: 'ok', value: `${value}, ${limits}`, fix: 'svc speech pull tiny.en'}
  }

  protected async cacheFolder(): Promise<string> {
    const {hubCacheFolder} = await import('../weights/index.js')
    return this.settings(hubSettings).hubCache ?? hubCacheFolder(process.env)
  }

  /** Download options from the settings, with retries and progress reported on standard error. */
  protected async hubOptions(show: ShowProgress): Promise<Omit<PullOptions, 'select'>> {
    const {hubEndpoint, hubToken, offline, hfRetryAttempts, hfRetryDelayMs} = this.settings(hubSettings)
    return {
      endpoint: hubEndpoint,
      token: hubToken,
      cacheFolder: await this.cacheFolder(),
      offline,
      attempts: hfRetryAttempts,
      retryDelayMs: hfRetryDelayMs,
      onRetry: ({attempt, reason}) => this.output.notice(`warning: try ${attempt} failed: ${reason}`),
      onProgress: ({file, receivedBytes, totalBytes}) => show(byteProgress(file, receivedBytes, totalBytes)),
      signal: this.signal,
    }
  }
}

const cudaRequested = (value = '') => speechSettings.rows.device.type.parse(value.trim()) === 'cuda'

/** True if the CUDA provider is installed next to the runtime, whose package contains only the CPU one. Loads nothing. */
function cudaInstalled(): boolean {
  const {resolve} = createRequire(import.meta.url)
  const name = process.platform === 'win32' ? 'onnxruntime_providers_cuda.dll' : 'libonnxruntime_providers_cuda.so'
  const root = dirname(resolve('onnxruntime-node/package.json'))
  return existsSync(join(root, 'bin', 'napi-v6', process.platform, process.arch, name))
}
