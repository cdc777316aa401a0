import {Flags} from '@oclif/core'
import {formatModels, HubCommand, listModels, listOllama, tableFlags} from '../src/cli/index.js'
import type {ListV1} from '../src/contracts/index.js'

export default class List extends HubCommand<typeof List> {
  static override summary = 'List the models on this machine.'
  static override description =
    `Lists the models in the Hugging Face cache, also those that other tools have downloaded, and those in models/ and runs/ of the
workspace. --model accepts the names. A model of the kind partial is a download that was interrupted: svc pull continues it. One of
the kind other cannot be run by svc.

With --ollama, lists the models in Ollama's store, which --model accepts as ollama:NAME.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --output wide',
    '<%= config.bin %> <%= command.id %> --ollama',
    "<%= config.bin %> <%= command.id %> --json | jq -r '.models[].name'",
  ]
  static override flags = {
    ...tableFlags,
    ollama: Flags.boolean({description: "List the models in Ollama's store, OLLAMA_MODELS or ~/.ollama/models."}),
  }

  async run(): Promise<void> {
    const {ollamaFolder} = await import('../src/weights/index.js')
    const {ollama} = this.flags
    const folder = ollama ? ollamaFolder(process.env) : await this.cacheFolder()
    const models = ollama ? await listOllama(folder) : await listModels(this.workspace.root, folder)
    const none = ollama ? `No models of Ollama in ${folder}; OLLAMA_MODELS names another directory.` : undefined
    const result: ListV1 = {folder, models}
    await this.output.result(result, () => formatModels(models, this.view, none))
  }
}
