import {Flags} from '@oclif/core'
import {SvcCommand, settingFlags, withProgress} from '../src/cli/index.js'
import {engineSettings, serveSettings} from '../src/config/index.js'
import type {InferenceServer} from '../src/serve/index.js'

/** Time that running replies have to finish after the server was asked to stop, ms. */
const drainMs = 5000

export default class Serve extends SvcCommand<typeof Serve> {
  static override summary = 'Serve a model to Ollama and OpenAI clients.'
  static override description =
    `A run directory contains an adapter and its manifest; its base model is in the same directory or at the path in the
manifest. A model directory contains a complete model. No export or conversion is needed.

Implements the chat, generate and model routes of the Ollama API, and the chat, completion and model routes of the
OpenAI API. Concurrent requests are batched. Listens on the loopback interface by default. On SIGTERM, in-flight
requests have five seconds to finish; then the server exits with status 0.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --model ./runs/r7',
    '<%= config.bin %> <%= command.id %> --model ./runs/r7 --model-name my-model --port 0 --json',
    'curl -s http://127.0.0.1:11435/api/generate -d \'{"prompt": "Hello", "stream": false}\'',
  ]
  static override flags = {
    model: Flags.string({
      char: 'm',
      description: 'Run directory, model directory, or id (owner/name) of a model in the local Hugging Face cache.',
      helpValue: 'MODEL',
      required: true,
    }),
    'model-name': Flags.string({
      description: 'Model name that clients see. (default: last component of the path)',
    }),
    base: Flags.string({
      description: 'Base model directory. (default: the one in the manifest)',
      helpValue: 'DIR',
    }),
    'ignore-eval-gate': Flags.boolean({description: 'Serve even if the evaluation of the run failed.'}),
    'api-key-env': Flags.string({
      description: 'Environment variable that contains the API key clients must send.',
      default: 'SVC_INFERENCE_API_KEY',
      helpValue: 'NAME',
    }),
    ...settingFlags(serveSettings),
    ...settingFlags(engineSettings, 'threads', 'numCtx', 'maxTokens', 'temperature'),
  }

  async run(): Promise<void> {
    const server = await this.#start()
    const {baseUrl, model, device, trained, unprotected} = server
    if (!trained) this.output.notice('notice: The directory contains no adapter; serving the base model.')
    if (unprotected)
      this.output.notice(
        `warning: Other machines can use this server without an API key. Set ${this.flags['api-key-env']}.`,
      )
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
