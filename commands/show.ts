import {formatModel, ignoreConfigKeyFlag, installedModelArg, SpeechCommand} from '../src/cli/index.js'

export default class Show extends SpeechCommand<typeof Show> {
  static override summary = 'Show family, size, memory and licence of a model.'
  static override description =
    `Reads the configuration, the tokenizer and the headers of the weights; nothing is loaded. The memory is that of the weights with
each precision. The precision is the one that the other commands choose on this machine, with the memory that is available now.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> Qwen/Qwen2.5-0.5B-Instruct',
    '<%= config.bin %> <%= command.id %> ./runs/r7 --json | jq .context_length',
  ]
  static override args = {model: installedModelArg}
  static override flags = {'ignore-config-key': ignoreConfigKeyFlag}

  async run(): Promise<void> {
    const result = await this.modelFacts(this.args.model, this.flags['ignore-config-key'])
    await this.output.result(result, () => formatModel(result, process.stdout.columns))
  }
}
