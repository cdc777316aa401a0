import {resolve} from 'node:path'
import {Flags} from '@oclif/core'
import {
  baseFlags,
  chatFlags,
  chooseLanguageModel,
  chosenDefaults,
  formatModel,
  ignoreConfigKeyFlag,
  inGroup,
  languageModelFacts,
  namedAdapterFlag,
  namedAdapters,
  SpeechCommand,
  settingFlags,
  showQuantising,
  withProgress,
} from '../src/cli/index.js'
import {
  engineSettings,
  type SettingSources,
  type SettingTable,
  serveSettings,
  speechServerSettings,
} from '../src/config/index.js'
import {SvcError} from '../src/errors/index.js'
import {isFolder} from '../src/files/index.js'
import type {
  CatalogOptions,
  ClientKey,
  DownloadProgress,
  InferenceServer,
  ModelManagement,
  ServerOptions,
} from '../src/serve/index.js'
import type {SpeechService} from '../src/speech/index.js'
import type {ModelDefaults, PullProgress} from '../src/weights/index.js'

/** Time that running replies have to finish after the server was asked to stop, ms. */
const drainMs = 5000

export default class Serve extends SpeechCommand<typeof Serve> {
  static override summary = 'Serve a model to Ollama, OpenAI and Anthropic clients.'
  static override description =
    `A run directory contains an adapter and its manifest; its base model is in the same directory or at the path in the
manifest. A model directory contains a complete model, and so does a GGUF file. No export or conversion is needed. Without --model, the only model
in models/, runs/ and the local Hugging Face cache is served; if there is none, the included guide.

With --models, every subdirectory and GGUF file of a directory is a model, every
downloaded model with --models pulled, and every model of Ollama with --models ollama.
They are loaded when a request names them. When their memory exceeds --memory-limit, the least recently used ones are unloaded, after
their running replies. svc ps lists the loaded models, and svc stop unloads one.

Each adapter of --adapter, and each subdirectory of --adapters, is a model of its own for clients. Requests for different
adapters are answered in one batch. Clients with the admin key add and remove adapters while the server runs: see svc adapter.

Implements the chat, generate and model routes of the Ollama API, and the chat, completion and model routes of the
OpenAI API. Concurrent requests are batched. With --speech-model, also implements the transcription and translation
routes of the OpenAI API; they use the settings under [speech] and the SVC_SPEECH_ variables. Listens on the loopback
interface by default. On SIGTERM, in-flight requests have five seconds to finish; then the server exits with status 0.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --model ./runs/r7',
    '<%= config.bin %> <%= command.id %> --model ./runs/r7 --model-name my-model --port 0 --json',
    '<%= config.bin %> <%= command.id %> --models ./runs,pulled --memory-limit 8000',
    '<%= config.bin %> <%= command.id %> --model ./models/base --adapter legal=./runs/r7 --adapters ./adapters',
    '<%= config.bin %> <%= command.id %> --model ./runs/r7 --speech-model openai/whisper-base',
    'curl -s http://127.0.0.1:11435/api/generate -d \'{"prompt": "Hello", "stream": false}\'',
  ]
  static override flags = {
    'stop-on-eof': Flags.boolean({description: 'Stop when standard input ends, such as a pipe from a parent process.'}),
    ...inGroup('model', {
      ...settingFlags(engineSettings, 'model'),
      'model-name': Flags.string({
        description: 'Name of --model that clients see. (default: last component of the path)',
      }),
      ...baseFlags,
      adapter: namedAdapterFlag(
        'Adapter of --model that stays in memory, and the name that clients see; may be repeated.',
      ),
      'speech-model': Flags.string({
        description: 'Speech model for /v1/audio routes: directory, whisper.cpp file or Hugging Face id.',
        helpValue: 'MODEL',
      }),
      'ignore-config-key': ignoreConfigKeyFlag,
      'ignore-eval-gate': Flags.boolean({description: 'Serve even if the evaluation of the run failed.'}),
    }),
    ...inGroup('network', {
      'api-key-env': Flags.string({
        description: 'Environment variable that contains the API key clients must send.',
        default: 'SVC_INFERENCE_API_KEY',
        helpValue: 'NAME',
      }),
      'admin-key-env': Flags.string({
        description: 'Environment variable that contains the key for changes of the adapters.',
        default: 'SVC_ADMIN_KEY',
        helpValue: 'NAME',
      }),
      insecure: Flags.boolean({description: 'Accept connections from other machines without an API key.'}),
    }),
    ...chatFlags,
    ...settingFlags(serveSettings),
    ...settingFlags(engineSettings, 'threads', 'precision', 'numCtx', 'promptLookup', 'maxTokens', 'temperature'),
  }

  #keys: readonly ClientKey[] = []

  async run(): Promise<void> {
    this.#keys = await this.#readKeys()
    const {configureLog} = await import('../src/log/index.js')
    configureLog(this.#logOptions())
    await this.#requireProtection()
    const model = this.flags['speech-model']
    if (model === undefined) return this.#serve({})
    const service = await this.openSpeechService(model)
    try {
      await withProgress('Loading the speech model', !this.flags.quiet, () => service.load(this.signal))
      await this.#serve(await this.#speechRoutes(service, model))
    } finally {
      await service.close()
    }
  }

  async #serve(routes: Pick<ServerOptions, 'mount' | 'otherModels'>): Promise<void> {
    const server = await this.#start(routes)
    const {baseUrl, model, device, unprotected} = server
    const speech = (await routes.otherModels?.())?.[0]?.id
    if (model?.trained === false && !this.flags['no-adapter'] && !server.hasAdapters)
      this.output.notice('notice: The model has no adapter; serving the base model.')
    if (model?.templateError !== undefined)
      this.output.notice(`warning: ${SvcError.fromRecord(model.templateError).message} Only raw prompts are served.`)
    if (unprotected)
      this.output.notice(
        `warning: Other machines can use this server without an API key. Set ${this.flags['api-key-env']}.`,
      )
    await this.warnWithoutTls(this.settings(serveSettings).host)
    await this.output.event({
      event: 'ready',
      base_url: baseUrl,
      pid: process.pid,
      ...(model === undefined ? {} : {model: model.name}),
      device,
      ...(speech === undefined ? {} : {speech_model: speech}),
    })
    const {models} = this.settings(serveSettings)
    const names = [model?.name, ...(models.length === 0 ? [] : [`the models of ${models.join(', ')}`]), speech]
    const served = names.filter((name) => name !== undefined).join(' and ')
    this.output.notice(`Listening on ${baseUrl}, serving ${served} on ${device}.`)
    await (this.flags['stop-on-eof'] ? Promise.race([this.untilStopped(), endOfInput()]) : this.untilStopped())
    // An open pipe would keep the process alive.
    if (this.flags['stop-on-eof']) process.stdin.destroy()
    await server.close(drainMs)
  }

  async #speechRoutes(service: SpeechService, named: string): Promise<Pick<ServerOptions, 'mount' | 'otherModels'>> {
    const server = await import('../src/speech-server/index.js')
    const {maxUploadBytes} = this.settings(speechServerSettings)
    const sessions = await this.openSessions(service, true)
    const model = async () => {
      const found = await this.findModel(named)
      return found === undefined ? null : {name: found.name, dir: found.path}
    }
    return {
      mount: async (app) => {
        server.openAiAudioRoutes(app, {
          service,
          uploads: await server.Uploads.open(app, service, maxUploadBytes),
          model,
        })
        server.realtimeRoute(app, {sessions, model, connections: await server.acceptWebSockets(app)})
        app.addHook('onClose', () => sessions.close())
      },
      otherModels: async () => {
        const served = await model()
        return served === null ? [] : [await server.speechModelEntry(served)]
      },
    }
  }

  /** The flags are those of the language model, of which some have the names of speech settings. */
  protected override settingSources(table?: SettingTable): SettingSources {
    const sources = super.settingSources(table)
    return table?.name === speechServerSettings.name ? {...sources, flags: {}} : sources
  }

  /** @throws serve_unprotected if other machines could use the server without a key, and the user has not allowed it */
  async #requireProtection(): Promise<void> {
    const {isExposed} = await import('../src/net/index.js')
    const {host} = this.settings(serveSettings)
    if (isExposed(host, this.#keys.length > 0 || this.flags.insecure))
      throw new SvcError('serve_unprotected', {host, variable: this.flags['api-key-env']})
  }

  /** The keys of the file, and the one in the environment, which is of the client `default`. */
  async #readKeys(): Promise<ClientKey[]> {
    const {apiKeys} = this.settings(serveSettings)
    const key = process.env[this.flags['api-key-env']]?.trim() || undefined
    const {readApiKeys} = await import('../src/serve/index.js')
    const listed = apiKeys === undefined ? [] : await readApiKeys(apiKeys)
    if (key === undefined) return listed
    if (listed.some(({name}) => name === 'default'))
      throw new SvcError('usage', {reason: `The name default is that of ${this.flags['api-key-env']}.`})
    return [...listed, {name: 'default', key, weight: 1}]
  }

  get #adminKey(): string | undefined {
    return process.env[this.flags['admin-key-env']]?.trim() || undefined
  }

  #logOptions() {
    const log = this.logOptions()
    const secrets = [...this.#keys.map(({key}) => key), this.#adminKey].filter((secret) => secret !== undefined)
    return {...log, secrets: [...log.secrets, ...secrets]}
  }

  /**
   * The adapters of `--adapter` and `--adapters`; undefined if there are none.
   * @throws flag_value, usage, directory_not_found
   */
  async #adapters(
    folder: string | undefined,
    megabytes: number,
    hasModel: boolean,
  ): Promise<CatalogOptions | undefined> {
    const pinned = await namedAdapters(this.flags.adapter)
    if (folder === undefined && pinned.length === 0) return undefined
    if (!hasModel) throw new SvcError('usage', {reason: 'Adapters belong to one model, and --model names none.'})
    if (folder !== undefined && !(await isFolder(folder)))
      throw new SvcError('directory_not_found', {path: resolve(folder)})
    return {
      pinned,
      folder: folder === undefined ? undefined : resolve(folder),
      maxBytes: megabytes * 1_000_000,
      ignoreConfigKeys: this.flags['ignore-config-key'],
    }
  }

  /** Prints what is known of a model, and all that is not supported, if it cannot be run. */
  async #explainRefusal(model: string, lookup: Parameters<typeof languageModelFacts>[2]): Promise<void> {
    const facts = await languageModelFacts(model, model, lookup)
    if (facts.family !== null && facts.problems.length > 0)
      this.output.notice(formatModel(facts, process.stderr.columns).trimEnd())
  }

  /** What the user has chosen, which precedes the defaults of the models. */
  async #chosenDefaults(): Promise<ModelDefaults> {
    const {topK: _, topP: __, ...settings} = this.chosenSettings(engineSettings)
    return chosenDefaults(this.flags, settings)
  }

  /** @throws directory_not_found, usage */
  async #requireFolders(models: readonly string[], manageModels: boolean): Promise<void> {
    if (models.length > 0 && this.flags['model-name'] !== undefined)
      throw new SvcError('usage', {reason: '--model-name names only one model, and --models serves several.'})
    const {isFolderOfModels} = await import('../src/llm/index.js')
    for (const folder of models)
      if (isFolderOfModels(folder) && !(await isFolder(folder)))
        throw new SvcError('directory_not_found', {path: resolve(folder)})
    const {isExposed} = await import('../src/net/index.js')
    if (!manageModels) return
    if (!models.includes('pulled'))
      throw new SvcError('usage', {
        reason: '--manage-models requires --models pulled: clients could not use what they download.',
      })
    const {host} = this.settings(serveSettings)
    if (isExposed(host, this.#keys.length > 0))
      throw new SvcError('serve_unprotected', {host, variable: this.flags['api-key-env']})
  }

  /** Downloads and deletes models for clients. */
  async #management(): Promise<ModelManagement> {
    const {pullModel, removeCachedModel} = await import('../src/weights/index.js')
    const options = await this.hubOptions(() => undefined)
    return {
      pull: async (name, onProgress, signal) => {
        await this.pullNamed(name, {
          download: (id, revision, select) =>
            pullModel(id, revision, {...options, select, signal, onProgress: asDownload(onProgress)}),
        })
      },
      remove: async (name, isUsed) => {
        const model = await this.findDownloaded(name)
        if (isUsed(model.path)) throw new SvcError('model_in_use', {model: name, users: 'this server'})
        await removeCachedModel(model, options.cacheFolder)
      },
    }
  }

  async #start(routes: Pick<ServerOptions, 'mount' | 'otherModels'>): Promise<InferenceServer> {
    const {
      host,
      port,
      keepAlive,
      parallel,
      queue,
      prefixCache,
      prefixFiles,
      apiKeys: _apiKeys,
      models,
      memoryLimit,
      manageModels,
      adapters,
      adapterMemory,
      ...serve
    } = this.settings(serveSettings)
    const {model: configured, topK: _, topP: __, maxTokens, temperature, ...engine} = this.settings(engineSettings)
    const cacheFolder = await this.cacheFolder()
    await this.#requireFolders(models, manageModels)
    const {findNamedModels} = await import('../src/llm/index.js')
    const {ollamaFolder} = await import('../src/weights/index.js')
    const options = {
      ...routes,
      ...serve,
      ...engine,
      address: {host, port},
      keys: this.#keys,
      adminKey: this.#adminKey,
      servesOthers: models.length > 0,
      findModels: () => findNamedModels(models, {cacheFolder, ollamaFolder: ollamaFolder(process.env)}),
      memoryLimit: memoryLimit === 0 ? await availableMemory(models) : memoryLimit * 1_000_000,
      management: manageModels ? await this.#management() : undefined,
      fallback: {maxTokens, temperature},
      defaults: await this.#chosenDefaults(),
      cacheFolder,
      base: this.flags.base,
      baseOnly: this.flags['no-adapter'],
      chatTemplate: this.flags['chat-template'],
      ignoreEvalGate: this.flags['ignore-eval-gate'],
      ignoreConfigKeys: this.flags['ignore-config-key'],
      slots: parallel,
      queueLimit: queue,
      prefixBytes: prefixCache * 1_000_000,
      prefixFileBytes: prefixFiles * 1_000_000,
      keepAlive: keepAlive < 0 ? ('forever' as const) : keepAlive * 1000,
      product: this.config.version,
      log: this.#logOptions(),
      onProgress: showQuantising,
    }
    const notice = (text: string) => this.output.notice(text)
    const model =
      configured === undefined && models.length > 0
        ? undefined
        : await chooseLanguageModel(configured, this.workspace.root, cacheFolder, notice)
    const first = model === undefined ? undefined : {path: model, name: this.flags['model-name']?.trim() || undefined}
    const {startServer} = await import('../src/serve/index.js')
    const catalog = await this.#adapters(adapters, adapterMemory, model !== undefined)
    try {
      return await withProgress('Loading the model', !this.flags.quiet && model !== undefined, () =>
        startServer({...options, first, adapters: catalog}, this.signal),
      )
    } catch (error) {
      if (model !== undefined && isModelError(error))
        await this.#explainRefusal(model, {cacheFolder, base: options.base, ignoreConfigKeys: options.ignoreConfigKeys})
      throw error
    }
  }
}

/** Memory for the models of `--models`; a model of its own is loaded whatever its size is. */
async function availableMemory(models: readonly string[]): Promise<number> {
  if (models.length === 0) return Infinity
  const {obtainableMemory} = await import('../src/onnx/index.js')
  return obtainableMemory()
}

/** Whether the files of the model are the reason. */
const isModelError = (error: unknown): boolean =>
  error instanceof SvcError && /^(model|tensor|tokenizer|adapter|safetensors|shard|chat_template)_/.test(error.code)

const asDownload =
  (onProgress: (progress: DownloadProgress) => void) =>
  ({file, digest, fileBytes, fileTotal}: PullProgress): void =>
    onProgress({file, digest, completedBytes: fileBytes, totalBytes: fileTotal})

const endOfInput = () => new Promise<void>((resolve) => process.stdin.resume().once('close', resolve))
