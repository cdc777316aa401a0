import {Args} from '@oclif/core'
import {SvcCommand, serverFlag} from '../src/cli/index.js'
import type {StopV1} from '../src/contracts/index.js'

export default class Stop extends SvcCommand<typeof Stop> {
  static override summary = 'Stop a model of a server, and free its memory.'
  static override description =
    `Asks an inference server, svc serve or Ollama, to free the memory of a model. Running replies end first. The next request loads
the model again. To stop the server itself, press Ctrl-C in its terminal.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> guide',
    '<%= config.bin %> <%= command.id %> guide --server http://127.0.0.1:11434',
  ]
  static override args = {model: Args.string({description: 'Name of the model, as svc ps prints it.', required: true})}
  static override flags = {server: serverFlag}

  async run(): Promise<void> {
    const {inferenceClient, resolveEndpoint, unloadModel} = await import('../src/inference-client/index.js')
    const {server} = this.flags
    const {endpoint, warnings} = resolveEndpoint(this.settingSources(), server === undefined ? {} : {url: server})
    this.report(warnings)
    const client = inferenceClient(endpoint, {attempts: 1})
    try {
      const {model} = this.args
      const state = await unloadModel(client, model, this.signal)
      const result: StopV1 = {server: endpoint.baseUrl, model, state}
      const sentences = {
        unloaded: `Unloaded ${model}.`,
        unloading: `${model} is unloaded when its running replies end.`,
        not_loaded: `${model} was not loaded.`,
      }
      await this.output.result(result, () => sentences[state])
    } finally {
      await client.close()
    }
  }
}
