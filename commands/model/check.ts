import {formatModel, ignoreConfigKeyFlag, installedModelArg, SpeechCommand} from '../../src/cli/index.js'
import {Exit} from '../../src/errors/index.js'

export default class ModelCheck extends SpeechCommand<typeof ModelCheck> {
  static override summary = 'Check whether a model can be run, without loading it.'
  static override description =
    `Reads the configuration, the tokenizer and the headers of the weights, and prints what svc show prints, and everything that is
not supported. Of a GGUF file, it also prints its types of weights, and the error of rounding them to 8 bits, measured with a
sample. Exits with status 1 if the model cannot be run. To check what a model computes, use svc verify.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> ./models/mine',
    '<%= config.bin %> <%= command.id %> acme/llama --json | jq -r .problems[].message',
  ]
  static override args = {model: installedModelArg}
  static override flags = {'ignore-config-key': ignoreConfigKeyFlag}

  async run(): Promise<void> {
    const result = await this.modelFacts(this.args.model, this.flags['ignore-config-key'])
    await this.output.result(result, () => formatModel(result, process.stdout.columns))
    if (result.problems.length > 0) this.exit(Exit.failed)
  }
}
