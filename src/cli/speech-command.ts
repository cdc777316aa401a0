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
import {type Ears, openEars, type RefineProfile} from './speech-port.js'

/** Flags of every command that recognises speech. */
export const speechFlags = {
  ...settingFlags(speechSettings),
  ...settingFlags(speechAudioSettings),
  ...settingFlags(speechRefineSettings),
  ...settingFlags(hubSettings),
}

/** The small model that comes with the program. */
const starterFolder = join(packageRoot, 'examples', 'models', 'starter')

const starterNotice =
  'Using the starter model, which knows synthetic voices and spoken digits; for real-world speech run svc speech pull tiny.en once.'

/** A command that recognises speech: its settings, and the transcriber they make. */
export abstract class SpeechCommand<T extends typeof Command = typeof Command> extends SvcCommand<T> {
  /** A transcriber as the flags and settings want it; close it. */
  protected async createTranscriber({
    refine,
    prefersWords,
    profile,
  }: {
    refine: boolean
    prefersWords?: boolean
    /** In place of that of the settings. */
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
      if (fault !== undefined) this.output.notice(`warning: the lexicon ${path} is not used: ${fault}.`)
    return new Transcriber({
      ...transcriberOptions(settings, lexicon),
      locate: (signal) => this.#locate(signal),
      engine: await this.#engineOptions(),
      prefersWords,
      refine,
    })
  }

  /** Speech-to-text for operations, as the settings want it; close it. */
  protected openEars(): Ears {
    return openEars({
      root: this.settings(speechServerSettings).workspace ?? this.workspace.root,
      profile: this.settings(speechRefineSettings).profile,
      minConfidence: this.settings(speechSessionSettings).toolRouteMinConfidence,
      createTranscriber: (profile) => this.createTranscriber({refine: true, profile}),
      status: () => this.speechStatus(),
      runtime: () => speechRuntime(this.#statusValues()),
    })
  }

  /** What recognises speech, and with which settings; loads no model and no runtime. */
  protected async speechStatus(): Promise<SpeechStatusV1> {
    const found = await this.findModel()
    return speechStatus(this.#statusValues(), {
      version: this.config.version,
      cudaInstalled: cudaInstalled(),
      cudaRequested: cudaRequested(process.env.SVC_SPEECH_CUDA),
      activeModel: found === undefined ? null : {name: found.name, dir: found.path},
    })
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
    const found = await withProgress('Looking for the speech model', !quiet, async (show) =>
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

  /** The speech model of the settings, or else the default one or the one that comes with the program. */
  protected async findModel(): Promise<LocatedModel | undefined> {
    const {findSpeechModel} = await import('../speech/index.js')
    const {model, revision} = this.settings(speechSettings)
    return findSpeechModel(model, {cwd: cwd(), revision, cacheFolder: await this.cacheFolder(), starterFolder})
  }

  /** Whether there is a speech model on this machine, which one, and how to get it or a better one. */
  protected async checkModel(): Promise<Finding> {
    const found = await this.findModel()
    const model = this.settings(speechSettings).model ?? defaultSpeechModel
    if (found === undefined)
      return {state: 'failed', value: `${model} is not on this machine.`, fix: `svc speech pull ${model}`}
    const value = `${found.name} in ${found.path}`
    if (!found.isFallback) return {state: 'ok', value}
    const limits = 'for synthetic voices and digits; real-world speech needs another model.'
    return {state: 'ok', value: `${value}, ${limits}`, fix: 'svc speech pull tiny.en'}
  }

  /** Folder of downloaded models. */
  protected async cacheFolder(): Promise<string> {
    const {hubCacheFolder} = await import('../weights/index.js')
    return this.settings(hubSettings).hubCache ?? hubCacheFolder(process.env)
  }

  /** How models are downloaded, and what is told of it. */
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

/** Whether the CUDA provider lies beside the runtime: its package brings the CPU alone. Loads nothing. */
function cudaInstalled(): boolean {
  const {resolve} = createRequire(import.meta.url)
  const name = process.platform === 'win32' ? 'onnxruntime_providers_cuda.dll' : 'libonnxruntime_providers_cuda.so'
  const root = dirname(resolve('onnxruntime-node/package.json'))
  return existsSync(join(root, 'bin', 'napi-v6', process.platform, process.arch, name))
}
