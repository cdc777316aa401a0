import {formatTable, megabytes, SvcCommand, serverFlag} from '../src/cli/index.js'
import type {PsV1} from '../src/contracts/index.js'

export default class Ps extends SvcCommand<typeof Ps> {
  static override summary = 'List the loaded models of a server.'
  static override description =
    `Asks an inference server, svc serve or Ollama, for the models that it has in memory. The server is the one that other commands
use, unless --server names another. The API key is read from SVC_INFERENCE_API_KEY.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --server http://127.0.0.1:11434 --json | jq -r .models[].name',
  ]
  static override flags = {server: serverFlag}

  async run(): Promise<void> {
    const {inferenceClient, resolveEndpoint, runningModels} = await import('../src/inference-client/index.js')
    const {server} = this.flags
    const {endpoint, warnings} = resolveEndpoint(this.settingSources(), server === undefined ? {} : {url: server})
    this.report(warnings)
    const client = inferenceClient(endpoint, {attempts: 1})
    try {
      const models = await runningModels(client, this.signal)
      const result: PsV1 = {server: endpoint.baseUrl, models}
      const rows = models.map(({name, memory_bytes: bytes, context_length: context, unloads_at: until}) => [
        name,
        bytes === null ? '-' : `${megabytes(bytes)} MB`,
        context === null ? '-' : String(context),
        until ?? 'never',
      ])
      await this.output.result(result, () =>
        formatTable(
          ['NAME', 'MEMORY', 'CONTEXT', 'UNLOADS'],
          rows,
          this.view,
          `${endpoint.baseUrl} has no model loaded.`,
        ),
      )
    } finally {
      await client.close()
    }
  }
}
