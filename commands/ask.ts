import {Args, Flags} from '@oclif/core'
import {formatAnswer, readTextInput, SvcCommand} from '../src/cli/index.js'
import {inferenceSettings} from '../src/config/index.js'
import type {AskV1} from '../src/contracts/index.js'
import type {FoundPassage, Help} from '../src/help/index.js'

export default class Ask extends SvcCommand<typeof Ask> {
  static override summary = 'Answer a question about svc from its documentation.'
  static override description =
    `Searches the guides, the help of all commands, the settings and the explanations of errors, and prints the passages that answer
the question, with their places. Needs no model and no network. If nothing fits, it says so.

If SVC_INFERENCE_MODEL is set, that model writes a short answer from the passages. Commands in it that do not exist are removed.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> how do I transcribe a recording',
    '<%= config.bin %> <%= command.id %> "What does port_in_use mean?"',
    `<%= config.bin %> <%= command.id %> --json retry a failed task | jq -r '.passages[0].commands[]'`,
  ]
  static override strict = false
  static override args = {
    question: Args.string({description: 'Question, in one or more words; - reads standard input.', required: true}),
  }
  static override flags = {
    'no-model': Flags.boolean({description: 'Only search, even if a model is configured.'}),
  }

  async run(): Promise<void> {
    const words = this.argumentList.join(' ')
    const question = words === '-' ? await readTextInput(this.signal) : words
    const {openHelp} = await import('../src/help/index.js')
    const help = await openHelp()
    const passages = await help.passagesFor(question)
    const result = {question, answer: await this.#answer(help, question, passages), passages} satisfies AskV1
    await this.output.result(result, () => formatAnswer(result, process.stdout.columns))
  }

  /** What the configured model writes. Without a model, or if it fails, the passages are the answer. */
  async #answer(help: Help, question: string, passages: readonly FoundPassage[]): Promise<AskV1['answer']> {
    const {model} = this.settings(inferenceSettings)
    if (this.flags['no-model'] || model === inferenceSettings.rows.model.default) return null
    try {
      const {askEndpoint} = await import('../src/inference-client/index.js')
      const ask = await askEndpoint(this.settingSources(inferenceSettings), this.signal)
      const written = await help.written(ask, question, passages, this.signal)
      return written === undefined ? null : {model, ...written}
    } catch (error) {
      this.signal.throwIfAborted()
      this.output.notice(`The model ${model} did not answer: ${(error as Error).message}`)
      return null
    }
  }
}
