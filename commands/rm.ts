import {Args, Flags} from '@oclif/core'
import {askTerminal, HubCommand, megabytes} from '../src/cli/index.js'
import type {RmV1} from '../src/contracts/index.js'
import {SvcError} from '../src/errors/index.js'

export default class Rm extends HubCommand<typeof Rm> {
  static override summary = 'Delete a downloaded model.'
  static override description =
    `Prints the path and the size of the model, and asks before it deletes its files from the Hugging Face cache. Without a
terminal, --yes is required. Files that another revision of the model needs are kept.

A model that another process uses or downloads is refused with status 4, and the process is named. Processes of other users,
machines or containers that share the cache are not seen.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> Qwen/Qwen2.5-0.5B-Instruct',
    '<%= config.bin %> <%= command.id %> openai/whisper-base.en --yes',
  ]
  static override args = {
    model: Args.string({description: 'Name of the model, as svc list prints it.', required: true}),
  }
  static override flags = {
    yes: Flags.boolean({char: 'y', description: 'Delete without asking.'}),
  }

  async run(): Promise<void> {
    const {removeCachedModel} = await import('../src/weights/index.js')
    const model = await this.findDownloaded(this.args.model)
    const {name, path} = model
    const size = `${megabytes(model.bytes)} MB`
    if (!this.flags.yes) {
      const answer = await askTerminal(`Delete ${name}, ${size} in ${path}? [y/N] `, this.signal)
      this.signal.throwIfAborted()
      if (answer === undefined)
        throw new SvcError('unconfirmed', {what: `The deletion of ${name}, ${size} in ${path},`})
      const {typedDecision} = await import('../src/contracts/index.js')
      if (typedDecision(answer) !== true) return this.output.notice('Nothing was deleted.')
    }
    const bytes = await removeCachedModel(model, await this.cacheFolder())
    const result: RmV1 = {name, path, bytes}
    await this.output.result(result, () => `Deleted ${name}, ${megabytes(bytes)} MB, from ${path}`)
  }
}
