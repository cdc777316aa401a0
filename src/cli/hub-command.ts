import {existsSync} from 'node:fs'
import {basename, join, resolve} from 'node:path'
import {cwd} from 'node:process'
import type {Command} from '@oclif/core'
import {hubSettings, resolveSettings, type SettingSources} from '../config/index.js'
import {SvcError} from '../errors/index.js'
import type {CachedModel, PulledModel, PullOptions} from '../weights/index.js'
import {SvcCommand} from './command.js'
import {type ModelKind, modelKind} from './model-kind.js'
import {byteProgress, type ShowProgress, withProgress} from './progress.js'

/** A model that a command has downloaded. */
export interface DownloadedModel extends PulledModel {
  /** `file`: a single file, such as a model of whisper.cpp. */
  kind: ModelKind | 'file'
  /** The directory, or the file. */
  path: string
}

/** Called before a download with the size of its files; its exception cancels it. */
type Confirm = (bytes: number) => Promise<void>

/** Names of the flag, variables and settings that disable downloads. */
function offlineSources(sources: SettingSources): string[] {
  const {offline} = hubSettings.rows
  const {origin, overridden} =
    resolveSettings(hubSettings, sources).settings.find(({setting}) => setting === offline) ?? {}
  return [...(origin === undefined ? [] : [origin]), ...(overridden ?? []).filter(({value}) => value === true)].flatMap(
    ({name}) => name ?? [],
  )
}

/** Base of commands that download models, or that manage those in the Hugging Face cache. */
export abstract class HubCommand<T extends typeof Command = typeof Command> extends SvcCommand<T> {
  /** Folder of downloaded models. */
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
      offlineBy: offlineSources(this.settingSources(hubSettings)),
      attempts: hfRetryAttempts,
      retryDelayMs: hfRetryDelayMs,
      onRetry: ({attempt, reason}) => this.output.notice(`warning: try ${attempt} failed: ${reason}`),
      onProgress: ({file, receivedBytes, totalBytes}) => show(byteProgress(file, receivedBytes, totalBytes)),
      signal: this.signal,
    }
  }

  /** Downloads the files of a model that `select` returns. @throws what `pullModel` and `confirm` throw */
  protected async download(
    id: string,
    revision: string,
    select: PullOptions['select'],
    confirm?: Confirm,
  ): Promise<PulledModel> {
    const {planPull, pullModel, pullPlanned} = await import('../weights/index.js')
    const isShown = !(this.flags as {quiet: boolean}).quiet
    const plan = confirm && (await planPull(id, revision, {...(await this.hubOptions(() => {})), select}))
    if (plan !== undefined) await confirm?.(plan.bytes)
    return withProgress(`Downloading ${id}`, isShown, async (show) => {
      const options = await this.hubOptions(show)
      return plan === undefined ? pullModel(id, revision, {...options, select}) : pullPlanned(plan, options)
    })
  }

  /**
   * Downloads a language or speech model; its `config.json` decides which files it needs, before any are stored.
   * @param name `owner/name[:FILE][@revision]`, or a short name of a Whisper model
   * @param only language models, or models of any kind
   * @param download default: with progress on standard error
   * @throws what `confirm` throws; model_family_unknown, model_format_unsupported, hub_file_unknown; what `pullModel` throws
   */
  protected async pullNamed(
    name: string,
    {
      only,
      confirm,
      download = (...model) => this.download(...model),
    }: {only?: 'language'; confirm?: Confirm; download?: HubCommand['download']} = {},
  ): Promise<DownloadedModel> {
    const {isLanguageModel, languageModelTypes} = await import('../llm/index.js')
    const {isSpeechModel, speechModelId, speechModelTypes} = await import('../speech/index.js')
    const {defaultRevision, foreignFormat, ggufModels, languageModelFiles, oneFile, parseModelName, speechModelFiles} =
      await import('../weights/index.js')
    const {file, revision = defaultRevision, ...typed} = parseModelName(name)
    const id = speechModelId(typed.id)
    if (file !== undefined) {
      const pulled = await download(id, revision, oneFile(id, file), confirm)
      return {...pulled, kind: 'file', path: join(pulled.folder, file)}
    }
    const select: PullOptions['select'] = async (names, readConfig) => {
      const config = await readConfig()
      if (isLanguageModel(config)) return languageModelFiles(id, names)
      if (isSpeechModel(config) && only === undefined) return speechModelFiles(names)
      const {model_type: type} = config
      if (type === undefined && ggufModels(names).length > 0) return languageModelFiles(id, names)
      if (type === undefined) throw foreignFormat(id, names) ?? new SvcError('hub_files_missing', {id})
      const known = [...languageModelTypes, ...(only === undefined ? speechModelTypes : [])]
      throw new SvcError('model_family_unknown', {file: `config.json of ${id}`, family: String(type), known})
    }
    const pulled = await download(id, revision, select, confirm)
    return {...pulled, kind: await modelKind(pulled.folder), path: pulled.folder}
  }

  /** The downloaded model with a name. @throws model_not_found, model_not_downloaded */
  protected async findDownloaded(name: string): Promise<CachedModel> {
    const {defaultRevision, listCachedModels, parseModelName, snapshotPlace} = await import('../weights/index.js')
    const {speechModelId} = await import('../speech/index.js')
    const cacheFolder = await this.cacheFolder()
    const {file, revision = defaultRevision, ...typed} = parseModelName(name)
    const id = speechModelId(typed.id)
    const snapshot = await snapshotPlace(id, revision, cacheFolder)
    const commit = snapshot === undefined ? undefined : basename(snapshot)
    const known = (await listCachedModels(cacheFolder)).filter((model) => model.id === id)
    const found = known.find((model) => (model.commit === undefined || model.commit === commit) && model.file === file)
    if (found !== undefined) return found
    if (existsSync(resolve(cwd(), name))) throw new SvcError('model_not_downloaded', {path: resolve(cwd(), name)})
    throw new SvcError('model_not_found', {model: name, tried: [snapshot ?? cacheFolder]})
  }
}
