import {Flags} from '@oclif/core'
import {SvcCommand, settingFlags, withProgress} from '../src/cli/index.js'
import {engineSettings, serveSettings} from '../src/config/index.js'
import type {InferenceServer} from '../src/serve/index.js'

/** How long running replies may go on once the server is asked to stop, ms. */
const drainMs = 5000

export default class Serve extends SvcCommand<typeof Serve> {
  static override summary = 'Serve a trained run directory to Ollama and OpenAI clients.'
  static override description =
    `The directory is what training leaves behind: an adapter with its manifest, and the base model in it or where the
manifest points to; or a plain model directory. Nothing is exported or converted.

The server answers the generating, listing and describing routes of both dialects, many requests at once. It listens on
loopback unless told otherwise. SIGTERM lets running replies end, for five seconds, and then exits with 0.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --model ./runs/r7',
    '<%= config.bin %> <%= command.id %> --model ./runs/r7 --model-name my-model --port 0 --json',
    'curl -s http://127.0.0.1:11435/api/generate -d \'{"prompt": "Hello", "stream": false}\'',
  ]
  static override flags = {
    model: Flags.string({
      char: 'm',
      description:
        'Run directory, or model directory, or the id owner/name of a model in the local Hugging Face cache.',
      helpValue: 'DIR',
      required: true,
    }),
    'model-name': Flags.string({
      description: 'Name under which it is served; the last part of the path when left out.',
    }),
    base: Flags.string({
      description: 'Directory of the base model, instead of the one the manifest names.',
      helpValue: 'DIR',
    }),
    'ignore-eval-gate': Flags.boolean({description: 'Serve although the evaluation of the run failed.'}),
    'api-key-env': Flags.string({
      description: 'Name of the environment variable that holds the key clients must send.',
      default: 'SVC_INFERENCE_API_KEY',
      helpValue: 'NAME',
    }),
    ...settingFlags(serveSettings),
    ...settingFlags(engineSettings, 'threads', 'numCtx', 'maxTokens', 'temperature'),
  }

  async run(): Promise<void> {
    const server = await this.#start()
    const {baseUrl, model, device, trained, unprotected} = server
    if (!trained) this.output.notice('notice: the directory holds no adapter; the base model is served as it is.')
    if (unprotected)
      this.output.notice(`warning: other machines can use this server without a key; set ${this.flags['api-key-env']}.`)
    await this.warnWithoutTls(this.settings(serveSettings).host)
    await this.output.event({event: 'ready', base_url: baseUrl, pid: process.pid, model: model.name, device})
    this.output.notice(`Listening on ${baseUrl}, serving ${model.name} on ${device}.`)
    await aborted(this.signal)
    await server.close(drainMs)
  }

  async #start(): Promise<InferenceServer> {
    const {host, port, keepAlive, parallel, queue, ...serve} = this.settings(serveSettings)
    const {topK: _, topP: __, ...engine} = this.settings(engineSettings)
    const apiKey = process.env[this.flags['api-key-env']]?.trim() || undefined
    const log = this.logOptions()
    const options = {
      ...serve,
      ...engine,
      address: {host, port},
      apiKey,
      name: this.flags['model-name']?.trim() || undefined,
      base: this.flags.base,
      ignoreEvalGate: this.flags['ignore-eval-gate'],
      slots: parallel,
      queueLimit: queue,
      keepAlive: keepAlive < 0 ? ('forever' as const) : keepAlive * 1000,
      product: this.config.version,
      log: {...log, secrets: [...log.secrets, apiKey].filter((secret) => secret !== undefined)},
    }
    const {configureLog} = await import('../src/log/index.js')
    configureLog(options.log)
    const {startServer} = await import('../src/serve/index.js')
    return withProgress('Loading the model', !this.flags.quiet, () =>
      startServer(this.flags.model, options, this.signal),
    )
  }
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), {once: true})
  })
